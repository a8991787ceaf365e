import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import { program } from '../runner/programs.ts';

/**
 * Serves the files of its folder at `/`, and returns method, path, account and body of all other
 * requests below `base`, with a token if it needs one.
 */
const SCRIPT = `
import http.server, json, sys

class Backend(http.server.SimpleHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def any(self):
        length = int(self.headers.get('Content-Length') or 0)
        text = self.rfile.read(length).decode()
        below = self.path.startswith(sys.argv[1] + '/')
        account = self.headers.get('X-Storegate-Account')
        body = json.dumps({'method': self.command, 'path': self.path, 'account': account, 'body': text}).encode()
        known = sys.argv[2] in ('', self.headers.get('Authorization'))
        self.send_response(401 if not known else 200 if below else 404)
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

/** `http.server` of Python. `token`: the Authorization that it needs. */
export async function pythonBackend(
  folder: string,
  base: string,
  token = '',
): Promise<PythonBackend> {
  const child = spawn(program('python3'), ['-c', SCRIPT, base, token], {
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
