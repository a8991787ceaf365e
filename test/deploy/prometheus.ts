import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { program } from '../runner/programs.ts';
import { failure } from '../support/failure.ts';
import { until } from '../support/until.ts';

export interface Prometheus {
  /** `data` of a response of the HTTP API, such as `query?query=up`. */
  ask(path: string): Promise<unknown>;
  stop(): Promise<void>;
}

/**
 * A real Prometheus on a free port, which scrapes and evaluates every second. `rules`: texts of
 * rule files by name.
 */
export async function startPrometheus(
  adminUrls: readonly string[],
  rules: Readonly<Record<string, string>> = {},
): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'prometheus-'));
  for (const [name, text] of Object.entries(rules)) writeFileSync(join(folder, name), text);
  const file = join(folder, 'prometheus.yml');
  const targets = adminUrls.map((url) => new URL(url).host);
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: Object.keys(rules),
    scrape_configs: [{ job_name: 'storegate', static_configs: [{ targets }] }],
  };
  writeFileSync(file, JSON.stringify(config));
  const prometheus = spawn(
    program('prometheus'),
    [
      `--config.file=${file}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      '--web.listen-address=127.0.0.1:0',
      '--enable-feature=exemplar-storage',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const exit = once(prometheus, 'exit');
  const stop = async () => {
    prometheus.kill('SIGKILL');
    await exit;
    rmSync(folder, { recursive: true });
  };
  let output = '';
  prometheus.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const listening = /msg="Listening on" address=(\S+)/;
  const urlOf = () => `http://${listening.exec(output)![1]}`;
  try {
    await until('Prometheus listens', () => listening.test(output));
    await until('it is ready', async () => (await fetch(`${urlOf()}/-/ready`)).ok);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    async ask(path) {
      const response = await fetch(`${urlOf()}/api/v1/${path}`);
      if (!response.ok) throw failure(`${path}: ${response.status} ${await response.text()}`);
      return ((await response.json()) as { data: unknown }).data;
    },
    stop,
  };
}
