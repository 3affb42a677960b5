"""Two thousand people of many countries, and every field of each comes back exact."""

import os
import random
import unicodedata

import pytest
from faker import Faker
from support.client import Person, exact
from support.log import check_all
from support.service import Service
from support.threads import together
from support.wait import until

LOCALES = ["en_US", "de_DE", "fr_FR", "pl_PL", "tr_TR", "vi_VN", "el_GR", "ru_RU", "uk_UA",
           "ar_EG", "he_IL", "fa_IR", "hi_IN", "th_TH", "ja_JP", "zh_CN", "zh_TW", "ko_KR",
           "ka_GE", "hy_AM"]
COUNT = int(os.environ.get("JEJAK_TEST_PEOPLE", "2000"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))
THREADS = 6


def people(count, seed):
    """Generated people; every third has some fields unset."""
    Faker.seed(seed)
    dice = random.Random(seed)
    fakers = {locale: Faker(locale) for locale in LOCALES}
    for number in range(count):
        locale = LOCALES[number % len(LOCALES)]
        fake = fakers[locale]
        fields = {"firstName": fake.first_name(), "lastName": fake.last_name(), "attributes": {
            "dateOfBirth": fake.date_of_birth(minimum_age=1, maximum_age=100).isoformat(),
            "height": dice.randrange(450, 2300) / 10, "weight": dice.randrange(3, 250),
            "isMarried": dice.random() < 0.5}}
        if number % 3 == 0:
            fields["attributes"].pop(dice.choice(sorted(fields["attributes"])))
        if number % 7 == 0:
            fields.pop(dice.choice(["firstName", "lastName"]))
        email = f"{dice.choice(['', 'x.', 'a+b_'])}{number}.{locale.lower()}@example.org"
        yield email, fields


def expected(email, fields):
    """The user as the answer must show it: names in NFC, trimmed once."""
    user = {"email": email, "attributes": fields["attributes"]}
    for name in ("firstName", "lastName"):
        text = fields.get(name)
        user[name] = None if text is None else unicodedata.normalize("NFC", text).strip()
    return user


@pytest.fixture(scope="module")
def patient(database):
    with Service(database.url) as service:
        yield service


def test_everyone_comes_back_as_he_went(patient, database):
    print(f"JEJAK_TEST_SEED={SEED}")
    everyone = list(people(COUNT, SEED))

    def import_share(thread):
        for number in range(thread, COUNT, THREADS):
            email, fields = everyone[number]
            come_and_go(patient, number, email, fields)

    together(THREADS, import_share)
    assert database.value("select count(*) from current_users") == COUNT
    check_all(database)


def come_and_go(service, number, email, fields):
    """Half of the people bring their fields to the registration, half set them afterwards."""
    at_once = number % 2 == 0
    person = Person(service, email, **(fields if at_once else {}))
    response = until("registered", lambda: not_busy(person.register()))
    assert response.status_code == 201, (SEED, number, fields, response.text)
    response = until("signed in", lambda: not_busy(person.sign_in()))
    assert response.status_code == 201, (SEED, number, response.text)
    if not at_once:
        response = person.patch(fields)
        assert response.status_code == 200, (SEED, number, fields, response.text)
    user = exact(person.get())
    shown = {name: user[name] for name in ("email", "attributes", "firstName", "lastName")}
    shown["attributes"] = {name: float(value) if name == "height" else value
                           for name, value in shown["attributes"].items()}
    assert shown == expected(email, fields), (SEED, number)
    person.http.close()


def not_busy(response):
    return response if response.status_code != 503 else None
