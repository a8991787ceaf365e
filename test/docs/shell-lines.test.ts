import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RedisServer, startRedis } from '../support/redis/server.ts';
import { rememberContracts } from '../support/remember-contracts.ts';
import { blocksOf, missingLines, runPage } from '../support/shell-pages.ts';
import { temporaryFolders } from '../support/temporary.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = temporaryFolders();
beforeAll(rememberContracts);
const PAGES = [
  'README',
  'quickstart',
  'tutorial',
  'install',
  'deploy',
  'tls',
  'openapi',
  'keys',
  'plans',
  'bans',
  'operators',
  'import-keys',
  'move-from-kong',
  'monitoring',
  'troubleshooting',
  'clients',
  'usage',
].map((name) => (name === 'README' ? `${name}.md` : `docs/${name}.md`));
/** They begin with nothing, so they may start a gateway and make a key. */
const TUTORIALS = ['README.md', 'docs/quickstart.md', 'docs/tutorial.md'];
/** Commands that a recipe runs only if its heading says so: set-up lines run them in its test. */
const SCAFFOLDING = [
  { command: /storegate serve|npm start/, heading: /^(?:start|run|use all cores|npm package)/i },
  { command: /keys create/, heading: /\bkeys?\b|^Kubernetes$|^Image$/i },
  { command: /bans add/, heading: /^ban a/i },
];
const WITH_REDIS = ['docs/redis.md', 'docs/backup-upgrade.md'];

async function check(file: string, redis?: RedisServer): Promise<void> {
  const page = readFileSync(join(root, file), 'utf8');
  const blocks = blocksOf(page).filter(({ notRun }) => notRun === null);
  const { code, printed } = await runPage(
    page,
    folder(),
    redis === undefined ? {} : { 6379: redis.port },
  );
  const last = `${file}:${blocks[printed.length - 1]?.line}\n${printed.at(-1)}`;
  expect({ code, last }).toEqual({ code: 0, last });
  const missing = blocks.map(({ line, output }, index) => {
    const lines = output === null ? [] : missingLines(output, printed[index]!);
    return lines.length === 0 ? null : { line, lines, printed: printed[index] };
  });
  expect(missing.filter((one) => one !== null)).toEqual([]);
}

describe('shell lines', () => {
  test.each(PAGES)('%s: every shell block runs and prints what the page shows', (file) =>
    check(file),
  );

  describe('with a Redis', () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    test.each(WITH_REDIS)(
      '%s: every shell block runs and prints what the page shows',
      async (file) => {
        await redis.admin.flushall();
        await check(file, redis);
      },
    );
  });

  const guides = [...PAGES, ...WITH_REDIS].filter((file) => !TUTORIALS.includes(file));
  test.each(guides)('%s: what a reader pastes does what the heading says', (file) => {
    const shown = blocksOf(readFileSync(join(root, file), 'utf8')).filter(
      ({ isHidden }) => !isHidden,
    );
    const unexpected = shown.flatMap(({ text, heading, line }) =>
      SCAFFOLDING.filter(
        ({ command, heading: expected }) => command.test(text) && !expected.test(heading),
      ).map(({ command }) => `${line}: ${command} below "${heading}"`),
    );
    expect(unexpected).toEqual([]);
  });

  test('a block that is not run has a reason', () => {
    const unexplained = [...PAGES, ...WITH_REDIS].flatMap((file) =>
      blocksOf(readFileSync(join(root, file), 'utf8')).filter(
        ({ notRun }) => notRun !== null && notRun.length < 10,
      ),
    );
    expect(unexplained).toEqual([]);
  });
});

describe('the runner of shell lines', () => {
  test('ends at the first command that fails, and shows what it printed', async () => {
    const page =
      '```sh\necho one\n```\n\n```sh\nnpx storegate keys get nothing\n```\n\n```sh\necho three\n```\n';
    const { code, printed } = await runPage(page, folder());
    expect(code).not.toBe(0);
    expect(printed).toEqual(['one\n', expect.stringContaining('nothing')]);
  });

  test('reads set-up that no reader sees, in its place and without its indentation', () => {
    const page = '# One\n\n   <!-- setup\n   npm start\n   -->\n\n```sh\nls\n```\n';
    expect(blocksOf(page)).toMatchObject([
      { isHidden: true, line: 3, heading: 'One', text: 'npm start\n' },
      { isHidden: false, line: 7, text: 'ls\n' },
    ]);
  });

  test('compares output by shape', () => {
    expect(
      missingLines(
        'HTTP/1.1 200 OK\nX-RateLimit-Limit: 60\n…',
        'HTTP/1.1 200 OK\nDate: x\nX-RateLimit-Limit: 59\n',
      ),
    ).toEqual([]);
    expect(missingLines('one …\ntwo', 'one 7\n')).toEqual(['two']);
  });
});
