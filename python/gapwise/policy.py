"""Online policies: what decides as events come (docs/reference/policies.md has the events and decisions)."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
import threading
from contextlib import contextmanager
from typing import Any, Dict, IO, Iterable, Iterator, List, Tuple

#: What is decided: a type and its data, as ("EXECUTE_JOB", {"job_id": "w0!1"}).
Decision = Tuple[str, Dict[str, Any]]


class Policy:
    """An online policy: it is told what has happened, and decides.

    Subclass it, and hand an object to gapwise.solve(instance, policy), which runs it in this process. As a
    program of its own it ends with `MyPolicy().run()`, for gapwise solve -a 'online:python3 mine.py'.
    """

    def begin(self, platform: Dict[str, Any]) -> None:
        """Is told the platform, the data of SIMULATION_BEGINS, before anything else."""

    def event(self, at: float, what: str, data: Dict[str, Any]) -> None:
        """Is told one event: when, its type such as JOB_SUBMITTED, and its data."""

    def decide(self, now: float) -> Iterable[Decision]:
        """Says what to do, when all events up to now have been told."""
        return ()

    def end(self) -> None:
        """Is told that nothing more happens."""

    def answer(self, request: Dict[str, Any]) -> Dict[str, Any]:
        """Answers a request of the protocol."""
        now, asked = request["now"], False
        decided: List[Dict[str, Any]] = []
        for event in request["events"]:
            if event["type"] == "SIMULATION_BEGINS":
                self.begin(event["data"])
            elif event["type"] == "SIMULATION_ENDS":
                self.end()
            else:
                asked = True
                self.event(event["timestamp"], event["type"], event["data"])
        if asked:
            decided = [{"timestamp": now, "type": what, "data": data} for what, data in self.decide(now)]
        return {"now": now, "events": decided}

    def run(self, requests: Iterable[str] = sys.stdin, answers: IO[str] = sys.stdout) -> None:
        """Answers requests, a line each, until they end."""
        for line in requests:
            print(json.dumps(self.answer(json.loads(line))), file=answers, flush=True)


def _quoted(word: str) -> str:
    if "'" not in word:
        return "'" + word + "'"
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


@contextmanager
def served(policy: Policy) -> Iterator[Tuple[str, Dict[str, str], List[BaseException]]]:
    """Serves a policy of this process to a command: the algorithm, its environment, and what the policy raises.

    The command starts relay.py, which passes lines on between the two over a socket of this machine.
    """
    key = secrets.token_hex(16)
    failure: List[BaseException] = []
    listener = socket.create_server(("127.0.0.1", 0))

    def attend(connection: socket.socket) -> None:
        connection.settimeout(10)  # for the key; the command then has all the time that it wants
        with connection, connection.makefile("rw", encoding="utf-8", newline="\n") as lines:
            if lines.readline().strip() != key:
                return
            connection.settimeout(None)
            for line in lines:
                try:
                    text = json.dumps(policy.answer(json.loads(line)))
                except BaseException as error:
                    failure.append(error)
                    return
                print(text, file=lines, flush=True)

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:  # it is closed
                return
            try:
                attend(connection)
            except OSError:
                pass  # it was nobody, or the command has ended

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    relay = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
    try:
        environment = {"GAPWISE_RELAY": "%d:%s" % (listener.getsockname()[1], key)}
        yield "online:%s -I %s" % (_quoted(sys.executable), _quoted(relay)), environment, failure
    finally:
        try:
            listener.shutdown(socket.SHUT_RDWR)  # close alone leaves accept waiting
        except OSError:
            pass
        listener.close()
        thread.join(5)
