import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { program } from '../runner/programs.ts';

/** Serves the files of its folder at `/`, and returns method, path and body of requests below a base. */
const SCRIPT = `
import http.server, json, sys

class Backend(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def any(self):
        length = int(self.headers.get('Content-Length') or 0)
        text = self.rfile.read(length).decode()
        below = self.path.startswith(sys.argv[1] + '/')
        body = json.dumps({'method': self.command, 'path': self.path, 'body': text}).encode()
        self.send_response(200 if below else 404)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        return super().do_GET() if self.path.endswith('.yaml') else self.any()

    do_POST = do_PUT = do_DELETE = do_PROPFIND = any

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Backend)
print(server.server_port, flush=True)
server.serve_forever()
`;

export interface PythonBackend {
  readonly url: string;
  stop(): Promise<void>;
}

/** `http.server` of Python. */
export async function pythonBackend(folder: string, base: string): Promise<PythonBackend> {
  const child = spawn(program('python3'), ['-c', SCRIPT, base], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [port] = (await once(lines, 'line')) as [string];
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
      lines.close();
    },
  };
}
