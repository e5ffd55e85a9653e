"""A web server of our own that serves files well or badly, and short waits."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from graphreach.datasets import store as downloads


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        answers = self.server.answers.get(self.path)
        if answers:
            (answers.pop(0) if len(answers) > 1 else answers[0])(self)
        else:
            self.start(404, 0)

    def log_message(self, *args):
        pass

    def start(self, status, length, headers=()):
        self.send_response(status)
        if length is not None:
            self.send_header("Content-Length", str(length))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()


class Server(ThreadingHTTPServer):
    """Paths without an answer are 404; with several answers, each is given once and the last one for ever."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, []
        self.stalled, self.closing = threading.Event(), threading.Event()

    def _add(self, path, answer):
        self.answers.setdefault(path, []).append(answer)
        return f"http://127.0.0.1:{self.server_address[1]}{path}"

    def gives(self, path, body, status=200, headers=()):
        def answer(request):
            request.start(status, len(body), headers)
            request.wfile.write(body)

        return self._add(path, answer)

    def gives_without_length(self, path, body):
        """The end of the body is the end of the connection, so that nobody can tell whether it is whole."""

        def answer(request):
            request.start(200, None)
            request.wfile.write(body)

        return self._add(path, answer)

    def fails(self, path, status):
        return self.gives(path, b"", status)

    def cuts_off(self, path, body):
        """Announces the whole body and sends half of it."""

        def answer(request):
            request.start(200, len(body))
            request.wfile.write(body[: len(body) // 2])

        return self._add(path, answer)

    def stalls(self, path, body):
        """Sends half of the body and then nothing until the server closes."""

        def answer(request):
            request.start(200, len(body))
            request.wfile.write(body[: len(body) // 2])
            request.wfile.flush()
            self.stalled.set()
            self.closing.wait(60)

        return self._add(path, answer)


@pytest.fixture
def server(monkeypatch):
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "*")
    monkeypatch.setattr(downloads, "PAUSE", 0.0)
    monkeypatch.setattr(downloads, "READ_TIMEOUT", 0.5)
    with Server() as web:
        thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield web
        web.closing.set()
        web.shutdown()
        thread.join()
