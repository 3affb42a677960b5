"""Cases B: dates are calendar dates, and nothing moves them."""

import datetime
import json

import pytest
from support.client import Person, field_errors, problem, signed_in
from support.log import check_all
from support.service import Service, jejak
from support.unchanged import unchanged

POINTER = "/attributes/dateOfBirth"


def born(date):
    return {"attributes": {"dateOfBirth": date}}


@pytest.mark.parametrize("zone", ["<-11>+11", "<+14>-14"])
def test_B1_no_time_zone_moves_a_date(fresh_database, zone):
    database_zone = "Pacific/Kiritimati" if zone.startswith("<-") else "Pacific/Pago_Pago"
    fresh_database.rows(
        f'alter database "{fresh_database.name}" set timezone to \'{database_zone}\'')
    with Service(fresh_database.url, env={"TZ": zone}) as service:
        person = signed_in(service, attributes={"dateOfBirth": "1981-04-01"})
        assert person.get().json()["attributes"]["dateOfBirth"] == "1981-04-01"
        assert person.patch(born("1981-03-31")).status_code == 200
        change, = person.history()[0]["changes"]
        assert change == {"field": "attributes.dateOfBirth", "old": "1981-04-01",
                          "new": "1981-03-31"}
        result = jejak("projection", "rebuild", "current_users", url=fresh_database.url,
                       env={"TZ": zone})
        assert result.returncode == 0, result.stderr
        assert person.get().json()["attributes"]["dateOfBirth"] == "1981-03-31"
        check_all(fresh_database)


@pytest.mark.parametrize("date", [
    "2023-02-30", "2023-04-31", "2023-13-01", "2023-00-10", "2023-01-00", "2023-01-32"])
def test_B2_B4_a_day_that_never_was_is_refused_and_the_stored_date_remains(ada, database, date):
    with unchanged(ada, database):
        body = problem(ada.patch(born(date)), 422, "validation-failed")
    assert field_errors(body) == {POINTER: "invalid-date"}


@pytest.mark.parametrize("date", ["2000-02-29", "2024-02-29", "1904-02-29"])
def test_B3_a_leap_day_is_a_day(ada, date):
    assert ada.patch(born(date)).status_code == 200
    assert ada.get().json()["attributes"]["dateOfBirth"] == date


@pytest.mark.parametrize("date", ["1900-02-29", "2023-02-29", "2100-02-29"])
def test_B3_and_no_other_29_february(ada, database, date):
    with unchanged(ada, database):
        body = problem(ada.patch(born(date)), 422, "validation-failed")
    assert field_errors(body) == {POINTER: "invalid-date"}


@pytest.mark.parametrize("date, code", [
    ("2568-01-01", "date-in-future"), ("9999-12-31", "date-in-future"),
    ("0007-05-01", "date-too-old"), ("1899-12-31", "date-too-old")])
def test_B6_a_date_of_another_calendar_is_out_of_range(ada, database, date, code):
    with unchanged(ada, database):
        body = problem(ada.patch(born(date)), 422, "validation-failed")
    assert field_errors(body) == {POINTER: code}


def test_B6_the_range_ends_today(ada):
    now = datetime.datetime.now(datetime.timezone.utc).date()
    assert ada.patch(born("1900-01-01")).status_code == 200
    assert ada.patch(born(str(now - datetime.timedelta(days=1)))).status_code == 200
    response = ada.patch(born(str(now + datetime.timedelta(days=2))))
    assert field_errors(problem(response, 422, "validation-failed")) == {POINTER: "date-in-future"}


@pytest.mark.parametrize("date", [
    "0000-00-00", "0000-01-01", "10000-01-01", "-001-01-01", "1990-1-1", "90-01-01",
    "01/02/1990", "1990-01-01T00:00:00Z", " 1990-01-01", "1990-01-01 ", "1990-01-01x",
    "１９９０-０１-０１", "١٩٩٠-٠١-٠١", "1990-01-0１", "19900101", "1990-W01-1", "1990-001",
    "+1990-01-01", "1990–01–01", "", "null", "1990-01"])
def test_B7_only_one_way_to_write_a_date(ada, database, date):
    with unchanged(ada, database):
        body = problem(ada.patch(born(date)), 422, "validation-failed")
    assert field_errors(body)[POINTER] in ("invalid-date", "date-too-old", "date-in-future")


def test_B7_at_registration_too(service, database):
    before = database.value("select count(*) from events")
    response = Person(service, **born("1990-1-1")).register()
    assert field_errors(problem(response, 422, "validation-failed")) == {POINTER: "invalid-date"}
    assert database.value("select count(*) from events") == before


@pytest.mark.parametrize("language", [
    "th-TH-u-ca-buddhist", "ja-JP-u-ca-japanese", "fa-IR", "ar-SA-u-ca-islamic", "en-US", "de",
    "*", "x" * 200])
def test_B8_no_language_changes_the_form(ada, language):
    headers = {"Accept-Language": language}
    response = ada.patch(json.dumps(born("1981-04-01")), **headers)
    assert response.status_code == 200
    assert ada.get(headers=headers).json()["attributes"]["dateOfBirth"] == "1981-04-01"
