"""The package against the program: $GAPWISE, the one in an installed wheel, or the one on PATH."""

import contextlib
import io
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import gapwise
from gapwise import command, instances

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"
SIX = EXAMPLES / "six-tasks.json"
VMS = {
    "kind": "vcsched",
    "version": 1,
    "name": "vms",
    "hosts": 2,
    "jobs": [{"id": "a", "tasks": 2, "cpu": 0.6, "memory": 0.3}, {"id": "b", "tasks": 1, "cpu": 0.5, "memory": 0.4}],
}


class FCFS(gapwise.Policy):
    """First come, first served."""

    def begin(self, platform):
        self.free, self.queue, self.width = platform["nb_resources"], [], {}

    def event(self, at, what, data):
        if what == "JOB_SUBMITTED":
            self.queue.append(data["job_id"])
            self.width[data["job_id"]] = data["job"]["res"]
        elif what == "JOB_COMPLETED":
            self.free += self.width[data["job_id"]]

    def decide(self, now):
        while self.queue and self.width[self.queue[0]] <= self.free:
            job = self.queue.pop(0)
            self.free -= self.width[job]
            yield "EXECUTE_JOB", {"job_id": job}


class Failing(FCFS):
    def event(self, at, what, data):
        raise ConnectionError("a mistake in the policy")


class TestSolve(unittest.TestCase):
    def test_file_dict_and_dataclass(self):
        data = json.loads(SIX.read_text())
        record = gapwise.DAG.from_dict(data)
        for instance in (SIX, str(SIX), data, record):
            result = gapwise.solve(instance)
            self.assertEqual((result.status, result.objective, result.bound, result.gap), ("optimal", 23, 23, 0))
            self.assertEqual(result["instance"], "six-tasks")
            self.assertEqual([row["id"] for row in result.rows], ["1", "2", "3", "4", "5", "6"])
            self.assertTrue(gapwise.verify(instance, result))
        self.assertIn("<dag six-tasks by auto: optimal, objective 23, bound 23, gap 0>", repr(result))

    def test_options(self):
        result = gapwise.solve(SIX, "heft", seed=7)
        self.assertEqual((result.algorithm, result["seed"], result.status), ("heft", 7, "feasible"))
        self.assertEqual(gapwise.solve(SIX, start=result, effort=10**6).bound, 23)
        with tempfile.TemporaryDirectory() as folder:
            proof = Path(folder) / "six.proof"
            gapwise.solve(SIX, "exact", engine="kernel", proof=proof)
            self.assertIn("gapwise-proof", proof.read_text()[:100])
        self.assertEqual(
            command.flags({"time_limit": 1e-5, "all_": True, "no": None, "off": False, "seeds": [1, 2]}),
            ["--time-limit=0.000010000s", "--all", "--seeds=1,2"],
        )

    def test_limits_are_results(self):
        hard = gapwise.generate("dag", tasks=60, seed=3)
        told = []
        result = gapwise.solve(hard, "exact", time_limit=0.3, progress=told.append)
        self.assertEqual(result.status, "feasible")
        self.assertLessEqual(result.bound, result.objective)
        self.assertEqual(set(told[-1]), {"algorithm", "objective", "bound", "gap", "nodes", "elapsed_s"})
        self.assertEqual((told[-1]["objective"], told[-1]["bound"]), (result.objective, result.bound))
        full = dict(VMS, hosts=1, jobs=[{"id": "a", "tasks": 2, "cpu": 0.6, "memory": 0.6}])
        self.assertEqual(gapwise.solve(full).status, "infeasible")
        self.assertIsNone(gapwise.solve(full).solution)
        self.assertTrue(gapwise.bound(full).infeasible)
        self.assertIsNone(gapwise.bound(full).best)

    def test_interrupt(self):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
        self.addCleanup(signal.signal, signal.SIGINT, before)
        hard = gapwise.generate("dag", tasks=60, seed=3)
        told = []

        def press(now):
            told.append(now)
            if len(told) == 1:
                signal.raise_signal(signal.SIGINT)

        result = gapwise.solve(hard, "exact", progress=press)
        self.assertTrue(result.interrupted)
        self.assertEqual(result.status, "feasible")
        self.assertTrue(gapwise.verify(hard, result))
        with mock.patch.object(command, "interrupt"), self.assertRaises(KeyboardInterrupt):  # the second one ends it
            gapwise.solve(hard, "exact", progress=lambda now: signal.raise_signal(signal.SIGINT))
        with self.assertRaises(ZeroDivisionError):  # what a callback raises is its caller's
            gapwise.solve(hard, "exact", progress=lambda told: 1 / 0)

    def test_errors(self):
        for kind, code, line, call in (
            (gapwise.BadInput, 3, "can't read nothing.json", lambda: gapwise.solve("nothing.json")),
            (gapwise.BadInput, 3, 'the key "version" is missing', lambda: gapwise.solve({"kind": "dag"})),
            (gapwise.BadInput, 3, "not JSON compliant", lambda: gapwise.solve(dict(VMS, hosts=float("inf")))),
            (gapwise.UsageError, 2, 'unknown algorithm "heft"', lambda: gapwise.solve(VMS, "heft")),
            (gapwise.UsageError, 2, "unknown flag --nothing", lambda: gapwise.solve(VMS, nothing=1)),
            (gapwise.BadInput, 3, "is of the instance", lambda: gapwise.verify(VMS, gapwise.solve(SIX))),
            (gapwise.UsageError, 2, "unknown flag --nothing", lambda: gapwise.bound(VMS, nothing=1)),
            (gapwise.BadInput, 3, "", lambda: gapwise.explain({"kind": "dag"})),
            (gapwise.BadInput, 3, "", lambda: gapwise.picture({"kind": "dag"})),
            (gapwise.BadInput, 3, "", lambda: gapwise.bench("nothing.yaml")),
            (gapwise.UsageError, 2, "--kind", lambda: gapwise.generate("nothing")),
            (gapwise.BadInput, 3, "", lambda: gapwise.load("nothing.swf")),
        ):
            with self.assertRaises(kind) as caught:
                call()
            self.assertEqual(caught.exception.code, code)
            self.assertIn(line, str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))
        with self.assertRaises(TypeError):
            gapwise.solve({"kind": object()})
        for call in (lambda: gapwise.solve(SIX, "heft,search"), lambda: gapwise.solve(SIX, "all"), lambda: gapwise.report(SIX, text=True)):
            with self.assertRaises(TypeError):
                call()

    def test_function(self):
        def first(vms):
            return {"jobs": [{"id": "web", "hosts": ["a", "b"]}]} if vms["name"] == "other" else gapwise.solve(vms, "mcb8")

        mcb8 = gapwise.solve(VMS, "mcb8")
        result = gapwise.solve(VMS, first)
        self.assertEqual((result.algorithm, result.objective, result.solution), ("first", mcb8.objective, mcb8.solution))
        self.assertIsNotNone(result.bound)
        self.assertTrue(gapwise.verify(VMS, result))
        again = gapwise.solve(VMS, first)  # of the instance that the judge has
        self.assertEqual(again.objective, result.objective)
        with self.assertRaisesRegex(gapwise.Refused, "first: its solution: "):
            gapwise.solve(dict(VMS, name="other"), first)
        self.assertEqual(gapwise.solve(VMS, first).objective, result.objective)  # after an error
        self.assertEqual(gapwise.solve(VMS, lambda vms: None).status, "unknown")
        with self.assertRaises(ZeroDivisionError):
            gapwise.solve(VMS, lambda vms: 1 / 0)
        with self.assertRaisesRegex(TypeError, "time_limit doesn't go with a function"):
            gapwise.solve(VMS, first, time_limit=1)
        with self.assertRaises(gapwise.BadInput):
            gapwise.solve({"kind": "dag"}, lambda graph: {})

        def random(graph, seed):
            seeds.append((seed, type(graph).__name__))
            return gapwise.solve(graph, "heft")

        seeds = []
        runs = gapwise.bench([SIX, gapwise.load(SIX)], [random, "heft"], seeds="3,4")
        self.assertEqual(seeds, [(3, "DAG"), (4, "DAG")] * 2)
        self.assertEqual(sorted(r["algorithm"] for r in runs), ["heft"] * 4 + ["random"] * 4)
        self.assertEqual({r["instance"] for r in runs if r["algorithm"] == "heft"}, {r["instance"] for r in runs})
        self.assertEqual(len({r["objective"] for r in runs}), 1)
        self.assertNotIn("stated", runs.table())

    def test_functions_are_kept(self):
        calls = []

        def maker(bias):
            def mine(graph, seed):
                calls.append((bias, seed))
                return gapwise.solve(graph, "heft", seed=seed + bias)

            return mine

        def wrong(graph):
            return {}["nothing"]

        def other(graph):
            return {"tasks": [{"id": "1", "machine": "none"}]}

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "runs.jsonl")
            both = {"mine": maker(1), "wrong": wrong, "other": other, "heft": "heft"}
            runs = gapwise.bench(SIX, both, output=file, seeds="3,4")
            self.assertEqual(calls, [(1, 3), (1, 4)])
            status = {r["algorithm"]: r["status"] for r in runs}
            self.assertEqual(status, {"mine": "feasible", "wrong": "unknown", "other": "unknown", "heft": "feasible"})
            reasons = {r["algorithm"]: r.get("reason", "") for r in runs}
            self.assertRegex(reasons["wrong"], r"^KeyError: 'nothing' \(test_gapwise.py:\d+\)$")
            self.assertRegex(reasons["other"], "^other: its solution: ")
            self.assertEqual(len({r["plan"] for r in runs}), 1)
            self.assertNotIn("stated", runs.table())
            # The same call goes on where it was; by another bias the function is another one.
            self.assertEqual(len(gapwise.bench(SIX, both, output=file, seeds="3,4")), 8)
            self.assertEqual(len(calls), 2)
            runs = gapwise.bench(SIX, dict(both, mine=maker(2)), output=file, seeds="3")
            self.assertEqual(calls[2:], [(2, 3)])
            self.assertEqual(len(runs), 8)
            # A line that was cut off is run anew, and an instance that has changed is refused.
            with open(file, "rb+") as kept:
                kept.truncate(os.path.getsize(file) - 20)
            gapwise.bench(SIX, {"mine": maker(2)}, output=file, seeds="3")
            self.assertEqual(calls[3:], [(2, 3)])
            changed = os.path.join(folder, "six.json")
            gapwise.convert(SIX, changed)
            kept = os.path.join(folder, "kept.jsonl")
            gapwise.bench(changed, [wrong], output=kept)
            gapwise.convert(EXAMPLES / "ten-tasks.json", changed)
            with self.assertRaisesRegex(gapwise.BadInput, "six.json has changed since it was run"):
                gapwise.bench(changed, [wrong], output=kept)
            # A folder's instances are those of its files.
            self.assertEqual([r["instance"] for r in gapwise.bench(folder, [other])], [changed])
        with self.assertRaisesRegex(TypeError, "two algorithms are called wrong"):
            gapwise.bench(SIX, [wrong, wrong])
        with self.assertRaisesRegex(TypeError, "heft can't be called mine"):
            gapwise.bench(SIX, {"mine": "heft"})

        def stops(graph):
            raise KeyboardInterrupt

        runs = gapwise.bench(SIX, [wrong, stops])
        self.assertTrue(runs.interrupted)
        self.assertEqual(len(runs), 1)

    def test_reports(self):
        page = gapwise.report(SIX, time_limit=1)
        self.assertIn("<html", page)
        self.assertIn("heft", page)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "again.json")
            gapwise.convert(SIX, path)
            self.assertEqual(gapwise.load(path), gapwise.load(SIX))
        plan = gapwise.kubernetes(os.path.join(EXAMPLES, "cluster.json"), price="nodes")
        self.assertIn("moves", plan)
        self.assertIn("bound", gapwise.kubernetes(os.path.join(EXAMPLES, "cluster.json"), "bound"))
        with self.assertRaises(gapwise.BadInput):
            gapwise.kubernetes(SIX)

    def test_judged(self):
        result = gapwise.solve(VMS, "mcb8")
        forged = json.loads(json.dumps(result))
        forged["solution"]["jobs"][0]["cpu"] = [0.9, 0.9]
        verdict = gapwise.verify(VMS, forged)
        self.assertFalse(verdict)
        self.assertTrue(verdict.violations)
        self.assertIn("refused", repr(verdict))
        self.assertTrue(gapwise.verify(VMS, result["solution"], tolerance=0))

    def test_judged_as_completed(self):
        # What is left out follows in a way that is infeasible: a verdict, and no exception.
        for instance, solution, constraint in (
            ("three-jobs", {"runs": [{"id": k, "segments": [{"start_s": 0}]} for k in "abc"]}, "foreground_overlap"),
            ("eight-requests", {"bookings": [{"id": "r%d" % k, "start_s": 20} for k in range(1, 9)]}, "pe_overlap"),
        ):
            verdict = gapwise.verify(os.path.join(EXAMPLES, instance + ".json"), solution)
            self.assertFalse(verdict)
            found = [v for v in verdict.violations if v["constraint"] == constraint]
            self.assertTrue(found)
            self.assertTrue(all(v["amount"] > 0 for v in found))
        with self.assertRaises(gapwise.BadInput) as caught:
            gapwise.solve(SIX, start={"tasks": 3})
        self.assertIn("the start: ", str(caught.exception))
        bare = {"tasks": [{"id": str(k), "machine": "P1"} for k in range(1, 7)]}
        self.assertIn("No solution has less than 2", repr(gapwise.explain(SIX, bare)))
        self.assertEqual(gapwise.solve(SIX, start={"tasks": bare["tasks"][:1]}).status, "optimal")

    def test_bound_and_explain(self):
        bounds = gapwise.bound(SIX)
        self.assertEqual(bounds.best, 23 if gapwise.version()["highs"] else 22)
        self.assertEqual(bounds["bounds"][0]["evidence"]["type"], "path")
        text = str(gapwise.explain(SIX, gapwise.solve(SIX)))
        self.assertIn("Makespan: 23 s, and no solution has less: it is optimal.", text)
        self.assertIn("critical path", text)
        self.assertAlmostEqual(gapwise.bound(VMS).best, 10 / 11)

    def test_pictures(self):
        result = gapwise.solve(SIX, "heft")
        self.assertIn("<svg", result._repr_svg_())
        self.assertIn("<svg", pickle.loads(pickle.dumps(result)).picture(width=100))
        self.assertIsNone(gapwise.Result(result)._repr_svg_())
        with self.assertRaises(ValueError):
            gapwise.Result(result).picture()
        goal = gapwise.solve(EXAMPLES / "eight-requests.json", goal="pe_seconds")
        self.assertIn("<svg", goal.picture())

    def test_bench(self):
        runs = gapwise.bench([SIX, json.loads((EXAMPLES / "ten-tasks.json").read_text())], ["heft", "search"])
        self.assertEqual(sorted(run["algorithm"] for run in runs), ["heft", "heft", "search", "search"])
        self.assertTrue(all(run["verified"] for run in runs))
        two = gapwise.bench([VMS, gapwise.VCSched.from_dict(VMS)], "mcb8")
        self.assertEqual([run["instance"] for run in two], ["vms.json", "1-vms.json"])
        self.assertIn("search", runs.table(by="tasks"))
        for wrong, call in {
            "bench takes several": lambda: gapwise.solve(SIX, ["heft", "peft"]),
            "two algorithms are called": lambda: gapwise.bench([SIX], [lambda g: g, lambda g: g]),
            "a plan names its algorithms": lambda: gapwise.bench("plan.yaml", lambda g: g),
            "once for each seed": lambda: gapwise.generate("dag", count=2),
        }.items():
            with self.assertRaisesRegex(TypeError, wrong):
                call()
        own = gapwise.bench([SIX, json.loads((EXAMPLES / "ten-tasks.json").read_text())], ["heft", "cpop"])
        self.assertIn("cpop", own.compare(base="heft"))
        self.assertIn("mean rank", own.compare(ranks=True))
        with tempfile.TemporaryDirectory() as folder:
            own.plot(Path(folder) / "gaps.svg", kind="box", y="gap %")
            self.assertIn("<svg", (Path(folder) / "gaps.svg").read_text())
        with self.assertRaises(gapwise.BadInput):
            own.compare(value="speed")
        frames = types.SimpleNamespace(DataFrame=lambda rows: ("frame", list(rows)))
        with mock.patch.dict(sys.modules, pandas=frames):
            self.assertEqual(runs.to_pandas(), ("frame", list(runs)))
            self.assertEqual(gapwise.solve(SIX).to_pandas()[1][0]["id"], "1")
        with mock.patch.dict(sys.modules, pandas=None), self.assertRaises(ImportError):
            runs.to_pandas()
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "runs.jsonl"
            plan = {"name": "small", "files": [str(SIX)], "algorithms": ["heft"]}
            self.assertEqual(len(gapwise.bench(plan, output=out)), 1)
            self.assertEqual(len(gapwise.bench(plan, output=out)), 1)  # it goes on where it was


class TestSession(unittest.TestCase):
    def test_steps(self):
        with gapwise.Session(seed=3) as session:
            first = session.step(VMS)
            self.assertEqual((first.status, first["seed"]), ("optimal", 3))
            with self.assertRaises(gapwise.BadInput) as caught:
                session.step({"kind": "vcsched"})
            self.assertEqual(caught.exception.code, 3)
            self.assertIs(session.last, first)
            more = gapwise.VCSched.from_dict(VMS)
            more.jobs.append(gapwise.VCSchedJob("c", tasks=1, cpu=0.2, memory=0.1))
            second = session.step(more)
            self.assertEqual([row["id"] for row in second.rows], ["a", "b", "c"])
            self.assertEqual(second.rows[0]["hosts"], first.rows[0]["hosts"])
            self.assertIn("<svg", second._repr_svg_())
            with self.assertRaises(TypeError):
                session.step("vms.json")
        self.assertEqual(session.close(), 0)
        with self.assertRaises(ValueError):
            session.step(VMS)

    def test_budget(self):
        with gapwise.Session() as session:
            session.step(dict(VMS, migration_budget=0))
            jobs = VMS["jobs"] + [{"id": "c", "tasks": 1, "cpu": 0.2, "memory": 0.1}]
            self.assertEqual(session.step(dict(VMS, migration_budget=0, jobs=jobs)).rows[:2], session.last.rows[:2])

    def test_refused(self):
        with gapwise.Session(gap=2) as session:
            with self.assertRaises(gapwise.UsageError) as caught:
                session.step(VMS)
        self.assertEqual(str(caught.exception), "session: --gap is 2, must be above 0 and below 1")

    def test_interrupt(self):
        hard = gapwise.generate("dag", tasks=60, seed=3)
        with gapwise.Session("exact", time_limit=60) as session:
            pressed = []
            readline = session._stdout.readline

            def press():  # Ctrl-C while the step is awaited
                if not pressed:
                    pressed.append(subprocess.run(["sleep", "0.3"]))
                    raise KeyboardInterrupt
                return readline()

            session._stdout = mock.Mock(readline=press, read=session._stdout.read, close=session._stdout.close)
            result = session.step(hard)
        self.assertTrue(result.interrupted)
        self.assertEqual(result.status, "feasible")


class TestPolicy(unittest.TestCase):
    jobs = None

    def setUp(self):
        if TestPolicy.jobs is None:
            TestPolicy.jobs = gapwise.generate("batch", tiers=1, jobs=60, processors=32, seed=2)

    def test_in_process(self):
        ours = gapwise.solve(self.jobs, "fcfs")
        mine = gapwise.solve(self.jobs, FCFS())
        self.assertEqual((mine.objective, mine.algorithm), (ours.objective, "online:FCFS"))
        self.assertTrue(gapwise.verify(self.jobs, mine))

    def test_as_a_program(self):
        lines = [
            {"now": 0, "events": [{"timestamp": 0, "type": "SIMULATION_BEGINS", "data": {"nb_resources": 2}}]},
            {"now": 5, "events": [{"timestamp": 5, "type": "JOB_SUBMITTED", "data": {"job_id": "w0!1", "job": {"res": 2}}}]},
            {"now": 9, "events": [{"timestamp": 9, "type": "SIMULATION_ENDS", "data": {}}]},
        ]
        answers = io.StringIO()
        FCFS().run(io.StringIO("".join(json.dumps(x) + "\n" for x in lines)), answers)
        self.assertEqual(
            [json.loads(x)["events"] for x in answers.getvalue().splitlines()],
            [[], [{"timestamp": 5, "type": "EXECUTE_JOB", "data": {"job_id": "w0!1"}}], []],
        )

    def test_failure(self):
        with self.assertRaisesRegex(ConnectionError, "a mistake in the policy"):
            gapwise.solve(self.jobs, Failing())

    def test_refused(self):
        class Greedy(FCFS):
            def decide(self, now):
                for job in self.queue:
                    yield "EXECUTE_JOB", {"job_id": job}

        result = gapwise.solve(self.jobs, Greedy())
        self.assertEqual(result.status, "unknown")
        self.assertIn("request", result["reason"])


class TestInstances(unittest.TestCase):
    def test_round_trips(self):
        seen = set()
        for path in sorted(EXAMPLES.glob("*.json")):
            data = json.loads(path.read_text())
            if data["kind"] not in instances.KINDS:  # what kubectl prints
                continue
            record = instances.KINDS[data["kind"]].from_dict(data)
            self.assertEqual(record.to_dict(), data, path.name)
            seen.add(data["kind"])
        self.assertEqual(seen | {"vcsched"}, set(instances.KINDS))
        self.assertEqual(gapwise.load(SIX).to_dict(), json.loads(SIX.read_text()))

    def test_mistakes(self):
        for data, line in (
            (dict(VMS, host=3), "unknown key 'host'"),
            ({"name": "x", "hosts": 1}, "the key 'jobs' is missing"),
            (dict(VMS, version=2), "version is 2, must be 1"),
            (dict(VMS, jobs=[{"id": "a"}]), "the key 'tasks' is missing"),
        ):
            with self.assertRaisesRegex(ValueError, re.escape(line)):
                gapwise.VCSched.from_dict(data)
        edge = gapwise.DAGEdge("1", "2", 3)
        self.assertEqual(edge.to_dict(), {"from": "1", "to": "2", "data": 3})
        self.assertEqual(gapwise.DAGEdge.from_dict(edge.to_dict()), edge)

    def test_all_are_exported(self):
        classes = {k for k, x in vars(instances).items() if isinstance(x, type) and x.__module__ == instances.__name__}
        self.assertLessEqual(classes, set(gapwise.__all__))
        for name in gapwise.__all__:
            self.assertTrue(hasattr(gapwise, name), name)


class TestProgram(unittest.TestCase):
    def test_find(self):
        path = gapwise.find()
        self.assertRegex(gapwise.version()["version"], r"^\d+\.\d+\.\d+$")
        with mock.patch.dict(os.environ, GAPWISE=path):
            self.assertEqual(gapwise.find(), path)
        with mock.patch.dict(os.environ, GAPWISE="/nowhere/gapwise"), self.assertRaises(gapwise.NotFound):
            gapwise.find()
        shipped = Path(command.__file__).parent / "bin"
        if not shipped.exists():
            with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, PATH=folder):
                os.environ.pop("GAPWISE", None)
                script = Path(folder) / "gapwise"  # the one that a wheel installs would start itself
                script.write_text("#!" + sys.executable)
                script.chmod(0o755)
                with self.assertRaises(gapwise.NotFound):
                    gapwise.find()
                script.unlink()
                os.symlink(path, script)
                self.assertEqual(gapwise.find(), str(script))

    def test_main(self):
        out = subprocess.run([sys.executable, "-m", "gapwise", "version", "--json"], stdout=subprocess.PIPE, check=True).stdout
        self.assertEqual(json.loads(out), gapwise.version())

    def test_exit_codes(self):
        for code, kind in ((1, gapwise.GapwiseError), (7, gapwise.Refused), (6, gapwise.Stopped), (99, gapwise.GapwiseError)):
            error = command.error_of(code, "a line")
            self.assertEqual((type(error), error.code, str(error)), (kind, code, "a line"))
        with contextlib.suppress(KeyboardInterrupt):
            raise command.Ended(6, "", "stopped", True).fail()


if __name__ == "__main__":
    unittest.main()
