"""Cases C: JSON and its numbers, taken exactly or refused."""

import json
from decimal import Decimal

import pytest
from support.client import exact, field_errors, new_email, problem
from support.unchanged import unchanged


def attribute(name, digits):
    return f'{{"attributes":{{"{name}":{digits}}}}}'


@pytest.mark.parametrize("digits", ["1.7976931348623157e308", "1e19", "1e300", "-1e300"])
def test_C1_a_huge_number_for_an_integer_is_refused(ada, database, digits):
    with unchanged(ada, database):
        body = problem(ada.patch(attribute("weight", digits)), 422, "validation-failed")
    assert list(field_errors(body)) == ["/attributes/weight"]


def test_C2_a_huge_decimal_is_refused(ada, database):
    with unchanged(ada, database):
        body = problem(ada.patch(attribute("height", "100e200")), 422, "validation-failed")
    assert list(field_errors(body)) == ["/attributes/height"]


@pytest.mark.parametrize("digits", [
    "9223372036854775808", "-9223372036854775809", "2147483648", "9007199254740993",
    "9223372036854775807", "18446744073709551616", "78.5"])
def test_C3_an_integer_is_exact_or_refused(ada, digits):
    before = ada.get()
    response = ada.patch(attribute("weight", digits))
    if response.status_code == 200:
        assert exact(response)["attributes"]["weight"] == int(digits)
        assert exact(ada.get())["attributes"]["weight"] == int(digits)
        assert ada.history()[0]["changes"][0]["new"] == int(digits)
    else:
        if "." not in digits:
            assert response.status_code in (400, 422)
        else:
            problem(response, 422, "validation-failed")
        assert ada.get().content == before.content


@pytest.mark.parametrize("digits", [
    "165.5", "0.1", "179.99", "170.0", "3.5e1", "1e2", "12345678.90123", "0.30000000000000004",
    "123456789012345678.9", "9007199254740993", "165.50000000000000000001"])
def test_C3_a_decimal_is_exact_or_refused(ada, digits):
    before = ada.get()
    response = ada.patch(attribute("height", digits))
    if response.status_code == 200:
        assert exact(ada.get())["attributes"]["height"] == Decimal(digits)
        assert exact(response) == exact(ada.get())
    else:
        body = problem(response, 422, "validation-failed")
        assert list(field_errors(body)) == ["/attributes/height"]
        assert ada.get().content == before.content
        assert len(digits) > 12, "an ordinary decimal was refused"


@pytest.mark.parametrize("digits", [
    "1e999", "-1e999", "NaN", "Infinity", "-Infinity", '"NaN"', '"Infinity"', "nan", "1e-999999",
    "0x10", "+1", "01", ".5", "1.", "1e"])
def test_C4_what_is_no_finite_number_never_enters_the_log(ada, database, digits):
    with unchanged(ada, database):
        response = ada.patch(attribute("height", digits))
        problem(response, response.status_code, {"malformed-json", "validation-failed"})
        assert response.status_code in (400, 422)


@pytest.mark.parametrize("path", ["/v1/users", "/v1/sessions"])
@pytest.mark.parametrize("depth", [33, 160, 320, 511, 5000])
@pytest.mark.parametrize("opening, closing", [("[", "]"), ('{"a":', "}")])
def test_C6_deep_nesting_is_refused_before_anyone_signs_in(anyone, path, depth, opening, closing):
    body = opening * depth + "1" + closing * depth
    problem(anyone.post(path, content=body, headers={"Content-Type": "application/json"}),
            400, "malformed-json")


def test_C6_nesting_within_the_limit_is_only_unknown(ada, database):
    with unchanged(ada, database):
        body = problem(ada.patch('{"a":' * 31 + "1" + "}" * 31), 422, "validation-failed")
    assert field_errors(body) == {"/a": "unknown-field"}


@pytest.mark.parametrize("body", [
    '{"firstName":"a","firstName":"b"}', '{"firstName":"a","firstName":"a"}',
    '{"attributes":{"weight":1,"weight":2}}', '{"first\\u004eame":"a","firstName":"b"}'])
def test_C7_a_duplicate_key_is_refused(ada, database, body):
    with unchanged(ada, database):
        problem(ada.patch(body), 400, "malformed-json")


def test_C7_a_duplicate_address_at_registration_is_refused(anyone):
    body = f'{{"email":"{new_email()}","email":"{new_email()}","password":"long enough to pass"}}'
    problem(anyone.post("/v1/users", content=body, headers={"Content-Type": "application/json"}),
            400, "malformed-json")


@pytest.mark.parametrize("field", ["firstName", "lastName"])
@pytest.mark.parametrize("text", ["\\u0000", "Ada\\u0000", "\\u0000Ada", "A\\u0000da"])
def test_C8_nul_in_a_string_is_refused_with_its_pointer(ada, database, field, text):
    with unchanged(ada, database):
        body = problem(ada.patch(f'{{"{field}":"{text}"}}'), 422, "validation-failed")
    assert field_errors(body) == {f"/{field}": "forbidden-character"}


def test_C8_nul_in_address_password_and_date(service, anyone, ada, database):
    for body in ({"email": "a\0da@example.org", "password": "long enough to pass"},
                 {"email": new_email(), "password": "long enough\0 to pass"}):
        problem(anyone.post("/v1/users", json=body), 422, "validation-failed")
    with unchanged(ada, database):
        problem(ada.patch({"attributes": {"dateOfBirth": "1990-01-01\0"}}), 422,
                "validation-failed")
    answer = anyone.post("/v1/sessions", json={"email": "a\0@example.org", "password": "x\0"})
    assert answer.status_code in (401, 422)


@pytest.mark.parametrize("text", ["\\ud800", "\\udc00", "\\ud800x", "\\ud800\\ud800",
                                  "\\udc00\\ud800"])
def test_C9_a_lone_surrogate_is_refused(ada, database, text):
    with unchanged(ada, database):
        response = ada.patch(f'{{"firstName":"{text}"}}')
        problem(response, response.status_code, {"malformed-json", "validation-failed"})
        assert response.status_code in (400, 422)


def test_C9_a_pair_of_surrogates_is_one_character(ada):
    assert ada.patch('{"firstName":"\\ud83d\\ude00"}').status_code == 200
    assert ada.get().json()["firstName"] == "😀"


@pytest.mark.parametrize("body", [
    b'{"firstName":"\xff"}', b'{"firstName":"\xc3"}', b'{"firstName":"\xc0\x80"}',
    b'{"firstName":"\xed\xa0\x80"}', b'{"firstName":"\xf5\x80\x80\x80"}',
    '{"firstName":"a"}'.encode("utf-16"), b"", b" ", b"{", b'{"firstName":"a"', b'{"a":1}x',
    b'{"a":1}{"a":2}', b"{'a':1}", b'{"a":1,}', b"// x\n{}", b'{"firstName":"a\nb"}'])
def test_C9_what_is_no_json_in_utf8_is_malformed(ada, database, body):
    with unchanged(ada, database):
        problem(ada.patch(body), 400, "malformed-json")


@pytest.mark.parametrize("body", ["null", "1", '"a"', "[]", "true", '[{"firstName":"a"}]'])
def test_C9_a_patch_is_an_object(ada, database, body):
    with unchanged(ada, database):
        response = ada.patch(body)
        problem(response, response.status_code, {"malformed-json", "validation-failed"})
        assert response.status_code in (400, 422)


def test_C13_every_unknown_member_is_named(ada, database):
    with unchanged(ada, database):
        response = ada.patch({"firstname": "x", "a/b~c": 1, "attributes": {"Height": 1, "x": {}}})
        body = problem(response, 422, "validation-failed")
    assert field_errors(body) == {
        "/firstname": "unknown-field", "/a~1b~0c": "unknown-field",
        "/attributes/Height": "unknown-field", "/attributes/x": "unknown-field"}


@pytest.mark.parametrize("path, extra", [
    ("/v1/users", {"nickname": "x"}), ("/v1/users", {"attributes": {"shoe": 1}}),
    ("/v1/sessions", {"remember": True})])
def test_C13_unknown_members_elsewhere_too(anyone, path, extra):
    body = {"email": new_email(), "password": "long enough to pass", **extra}
    answer = anyone.post(path, content=json.dumps(body),
                         headers={"Content-Type": "application/json"})
    errors = field_errors(problem(answer, 422, "validation-failed"))
    assert list(errors.values()) == ["unknown-field"]
