"""Cases D: names and strings."""

import unicodedata

import pytest
from support.client import field_errors, problem, signed_in
from support.unchanged import unchanged

NAMES = [
    "O'Brien", "O’Brien", "Jean-Luc", "Bob & Sally", "SMITH/DUPONT", "X", "é", "李", "小林 一茶",
    "محمد", "דוד", "ไพลิน", "Σωκράτης", "हिन्दी", "김", "👩‍👩‍👧‍👦", "🏳️‍🌈", "Nuñez", "Zoë",
    "von der Höhe", "Jr.", "Ⅳ", "Łukasz", "İnci", "ı", "ß", "ﬁ", "Å", "𠮷野", "नेहा\u200dक",
    "null", "true", "undefined", "{}", "%00", "../..", "Robert'); drop table events;--", "a\\b",
    '"quoted"', "<script>alert(1)</script>", "=1+1", "&amp;", "${x}", "1"]


@pytest.mark.parametrize("name", ["Ren\u00e9", "Rene\u0301", "\u1100\u1161\u11a8", "\u212b",
                                  "\u0041\u030a", "q\u0307\u0323"])
def test_D1_a_name_is_stored_in_nfc(service, name):
    person = signed_in(service, firstName=name)
    assert person.patch({"lastName": name}).status_code == 200
    user = person.get().json()
    assert user["firstName"] == user["lastName"] == unicodedata.normalize("NFC", name)


def test_D1_the_other_form_of_the_same_name_is_no_change(service, database):
    person = signed_in(service, firstName="Ren\u00e9")
    with unchanged(person, database):
        assert person.patch({"firstName": "Rene\u0301"}).status_code == 200


def test_D2_every_name_comes_back_as_it_went(person):
    for name in NAMES:
        assert person.patch({"firstName": name, "lastName": name}).status_code == 200, name
        user = person.get().json()
        assert user["firstName"] == user["lastName"] == unicodedata.normalize("NFC", name)
    changes = [entry["changes"] for entry in person.history(order="asc")[1:]]
    assert len(changes) == len(NAMES)
    for name, fields in zip(NAMES, changes, strict=True):
        assert {change["new"] for change in fields} == {unicodedata.normalize("NFC", name)}


def test_D2_a_name_is_trimmed_once(person):
    assert person.patch({"firstName": "  Ada \t"}).status_code == 200
    assert person.get().json()["firstName"] == "Ada"


@pytest.mark.parametrize("bad", [
    "A\tda", "A\nda", "A\u0007", "\u007fAda", "A\u0085da", "\u202eada", "\u2066ada\u2069",
    "ada\u202c", "A\u001bda"])
def test_D2_control_characters_and_overrides_are_refused(ada, database, bad):
    with unchanged(ada, database):
        body = problem(ada.patch({"firstName": bad}), 422, "validation-failed")
    assert field_errors(body) == {"/firstName": "forbidden-character"}


@pytest.mark.parametrize("field", ["firstName", "lastName"])
@pytest.mark.parametrize("length", [256, 10_000])
@pytest.mark.parametrize("letter", ["a", "é", "𠮷"])
def test_D5_too_many_characters_are_refused(ada, database, field, length, letter):
    with unchanged(ada, database):
        body = problem(ada.patch({field: letter * length}), 422, "validation-failed")
    assert field_errors(body) == {f"/{field}": "too-long"}


@pytest.mark.parametrize("letter", ["a", "é", "𠮷", "👩"])
def test_D5_characters_are_counted_as_code_points(ada, letter):
    assert ada.patch({"firstName": letter * 100}).status_code == 200
    assert ada.get().json()["firstName"] == letter * 100


@pytest.mark.parametrize("blank", ["", " ", "\u3000", "\t\n"])
def test_D5_a_blank_name_is_cleared_or_refused_and_never_stored(ada, blank):
    response = ada.patch({"firstName": blank})
    if response.status_code == 422:
        assert field_errors(response.json())["/firstName"] in ("too-short", "forbidden-character")
        assert ada.get().json()["firstName"] == "Ada"
    else:
        assert response.status_code == 200
        assert ada.get().json()["firstName"] is None
