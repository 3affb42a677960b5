"""How the projections that follow the log stand, and whether they are what the log adds up to."""

from .log import head
from .stall import stalled_append
from .wait import until

APPLICATION = "jejak projections"
FOLLOWERS = ("audit_entries", "directory", "statistics")


def positions(database):
    """The position of each follower by its name."""
    return dict(database.rows(
        "select name, position from projections where position is not null"))


def wait_caught_up(database, names=FOLLOWERS, seconds=30):
    """Returns when the followers have taken in what is in the log now; gives its head."""
    goal = head(database)

    def caught_up():
        at = positions(database)
        return all(at[name] >= goal for name in names)

    until(f"{', '.join(names)} are at position {goal}", caught_up, seconds)
    return goal


def check_followers(database):
    """With nobody appending: what each follower has seen is the log, in full and once."""
    goal = wait_caught_up(database)
    assert set(positions(database).values()) == {goal}
    assert database.rows("select position from audit_entries order by position") == [
        (n,) for n in range(1, goal + 1)]
    assert database.value(
        "select count(*) from audit_entries a join events e using (position) where (a.user_id, "
        "a.stream, a.version, a.type) = (e.user_id, e.stream, e.version, e.type)") == goal
    assert database.rows(
        "select sum(events), sum(registrations), sum(updates), sum(sign_ins) from statistics"
    ) == database.rows(
        "select count(*), count(*) filter (where type = 'UserRegistered'), count(*) filter "
        "(where type = 'ProfileUpdated'), count(*) filter (where type = 'SignedIn') from events")
    assert database.rows("select user_id from directory order by 1") == database.rows(
        "select user_id from current_users order by 1")
    assert database.value(
        "select count(*) from directory d join current_users u using (user_id) where "
        "convert_from(u.document || '}', 'UTF8')::jsonb ->> 'firstName' "
        "is distinct from d.first_name") == 0


def append_poison(database, user_id):
    """Appends an event of a type that this release doesn't know; gives its position."""
    with stalled_append(database, user_id) as (connection, position):
        connection.execute(
            "update events set type = 'FromTheFuture' where position = %s", [position])
        connection.commit()
    return position


def mend_poison(database):
    """Makes it an event that is known, as a fixed release would see it."""
    database.rows("update events set type = 'SignedIn' where type = 'FromTheFuture'")
