import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { placed } from './processors.ts';
import type { Request } from './work.ts';

const run = promisify(execFile);

export interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
  readonly folder: string;
  /** Additional Lua, for requests that differ. */
  readonly script?: string | undefined;
}

export interface Load {
  readonly requests: number;
  readonly seconds: number;
  /** Responses with 400 and above. */
  readonly refusals: number;
  /** No response, or none in time. */
  readonly failures: number;
}

export async function load(request: Request, options: LoadOptions): Promise<Load> {
  const file = join(options.folder, 'load.lua');
  writeFileSync(file, luaOf(request) + (options.script ?? ''));
  const args = [
    '-t1',
    `-c${options.connections}`,
    `-d${options.seconds}s`,
    '-s',
    file,
    request.url,
  ];
  const { stdout } = await run(...placed('beside', 'wrk', args), {
    timeout: (options.seconds + 15) * 1_000,
  });
  const [, summary] = /^@(.+)$/m.exec(stdout)!;
  return JSON.parse(summary!) as Load;
}

/** Defines no `request` function, so that wrk builds the request once. */
function luaOf({ method, headers, body }: Request): string {
  const lines = Object.entries(headers).map(
    ([name, value]) => `wrk.headers[${lua(name)}] = ${lua(value)}`,
  );
  return `wrk.method = ${lua(method)}
${lines.join('\n')}
${body === null ? '' : `wrk.body = ${lua(body)}`}
function done(summary)
  local e = summary.errors
  print(string.format('@{"requests":%d,"seconds":%.6f,"refusals":%d,"failures":%d}',
    summary.requests, summary.duration / 1e6, e.status, e.connect + e.read + e.write + e.timeout))
end
`;
}

/** A Lua literal, byte by byte, so that no text can end it early. */
export function lua(text: string): string {
  return `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
}
