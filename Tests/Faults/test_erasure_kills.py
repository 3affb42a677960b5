"""The service is killed while people are erased: each of them is gone, or still there.

`JEJAK_TEST_KILLS` changes the number, `JEJAK_TEST_SEED` the moments.
"""

import json
import os
import random
import threading

from support.client import Person, http, signed_in
from support.erasure import is_erased
from support.log import check_all
from support.projections import check_followers
from support.raw import Closed, Connection, request
from support.service import Service, jejak
from support.wait import until

KILLS = int(os.environ.get("JEJAK_TEST_KILLS", "10"))
SEED = int(os.environ.get("JEJAK_TEST_SEED", random.SystemRandom().randrange(10**6)))
PEOPLE = 24


def test_an_erasure_is_made_or_not(postgres, tmp_path):
    print(f"JEJAK_TEST_SEED={SEED}")
    dice = random.Random(SEED)
    database = postgres.create_database()
    path = tmp_path / "erasures.jsonl"
    acknowledged, unanswered = set(), 0
    with Service(database.url, env={"JEJAK_ERASURE_FILE": path}) as service:
        for _ in range(KILLS):
            people = [signed_in(service, firstName="Ada") for _ in range(PEOPLE)]
            started = threading.Semaphore(0)

            def erase(mine, started=started):
                gone = set()
                for person in mine:
                    started.release()
                    try:
                        connection = Connection(service.address)
                        body = json.dumps({"password": person.password}).encode()
                        answer = connection.ask(request(
                            "DELETE", "/v1/users/me", body, person.token,
                            Content_Type="application/json"))
                        connection.close()
                    except (Closed, OSError):
                        break
                    assert answer.status_code in (204, 503), answer.text
                    if answer.status_code == 204:
                        gone.add(person.id)
                acknowledged.update(gone)

            threads = [threading.Thread(target=erase, args=(people[n::6],)) for n in range(6)]
            for thread in threads:
                thread.start()
            for _ in range(dice.randrange(4, PEOPLE)):
                assert started.acquire(timeout=60)
            service.kill()
            for thread in threads:
                thread.join(60)
                assert not thread.is_alive()
            service.start()
            for person in people:
                was_told = person.id in acknowledged
                gone = is_erased(database, person.id)
                assert gone or not was_told, "an erasure that was acknowledged is not there"
                unanswered += gone and not was_told
                assert person.get().status_code == (401 if gone else 200)
            every = {str(row[0]) for row in database.rows("select user_id from erasures")}
            until("every erasure is listed", lambda e=every: {
                json.loads(line)["user"] for line in path.read_text().splitlines()} == e)
        print(f"{len(acknowledged)} erasures acknowledged, {unanswered} made without an answer")
        assert acknowledged
        check_all(database)
        check_followers(database)
        for name in ("current_users", "directory"):
            assert jejak("projection", "verify", name, url=database.url).returncode == 0
    database.drop()


def test_the_database_is_lost_during_an_erasure(postgres):
    """Sessions of the service that are ended in the middle leave nothing half done."""
    database = postgres.create_database()
    with Service(database.url) as service:
        key = service.api_key("users:write")
        person = signed_in(service)
        for _ in range(3):
            with database.connect(autocommit=False) as blocker, http(service) as client:
                # The last lock that an erasure takes.
                blocker.execute("select from log_head for update")
                client.headers["authorization"] = f"Bearer {key}"
                answers = []
                thread = threading.Thread(target=lambda c=client, a=answers: a.append(
                    c.delete(f"/v1/users/{person.id}").status_code))
                thread.start()
                waiting = until("the erasure waits for the log", lambda: database.rows(
                    "select pid from pg_stat_activity where wait_event_type = 'Lock' and "
                    "query like '%erase_user%' and datname = current_database()"))
                database.rows("select pg_terminate_backend(%s)", waiting[0][0])
                thread.join(30)
                assert answers == [503]
                blocker.rollback()
            assert not is_erased(database, person.id)
            assert Person(service, person.email).sign_in().status_code == 201
        service.wait_ready()
        with http(service) as client:
            client.headers["authorization"] = f"Bearer {key}"
            assert client.delete(f"/v1/users/{person.id}").status_code == 204
        assert is_erased(database, person.id)
        check_all(database)
    database.drop()
