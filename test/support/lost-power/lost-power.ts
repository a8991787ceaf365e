import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder that loses what was not synced; see lost-power.c. */
export class LostPower {
  readonly #folder: string;
  readonly #beside = mkdtempSync(join(tmpdir(), 'storegate-lost-power-'));
  readonly #library: string;
  readonly #isDeaf: boolean;

  /** `isDeaf`: no sync takes effect, which validates the measurement. */
  constructor(folder: string, isDeaf: boolean) {
    this.#folder = folder;
    this.#isDeaf = isDeaf;
    this.#library = join(this.#beside, 'lost-power.so');
    const source = join(import.meta.dirname, 'lost-power.c');
    execFileSync('gcc', [
      '-shared',
      '-fPIC',
      '-O2',
      '-Wall',
      '-Werror',
      '-o',
      this.#library,
      source,
      '-ldl',
    ]);
  }

  /** The missing requirement; `null`: none. */
  static get missing(): string | null {
    if (process.platform !== 'linux')
      return 'power can be lost on Linux only: that needs LD_PRELOAD and inodes';
    try {
      execFileSync('gcc', ['--version']);
      return null;
    } catch {
      return 'power cannot be lost, because gcc, which compiles test/support/lost-power/lost-power.c, is missing';
    }
  }

  get env(): Readonly<Record<string, string>> {
    return {
      LD_PRELOAD: this.#library,
      LOST_POWER_FROM: this.#folder,
      LOST_POWER_TO: this.#disk,
      ...(this.#isDeaf && { LOST_POWER_DEAF: '1' }),
    };
  }

  get #disk(): string {
    return join(this.#beside, 'disk');
  }

  begin(): void {
    rmSync(this.#disk, { recursive: true, force: true });
    for (const kind of ['i', 'd']) mkdirSync(join(this.#disk, kind), { recursive: true });
    this.#keep(this.#folder);
  }

  /**
   * Restores the synced state once no process uses the folder. Returns the lost bytes and names.
   */
  lose(): { readonly bytes: number; readonly names: number } {
    const before = sizeOf(this.#folder);
    const copy = join(this.#beside, 'copy');
    this.#restore(nameOf(this.#folder), copy);
    rmSync(this.#folder, { recursive: true });
    cpSync(copy, this.#folder, { recursive: true });
    rmSync(copy, { recursive: true });
    const after = sizeOf(this.#folder);
    return { bytes: before.bytes - after.bytes, names: before.names - after.names };
  }

  close(): void {
    rmSync(this.#beside, { recursive: true });
  }

  #keep(folder: string): void {
    const entries = readdirSync(folder, { withFileTypes: true });
    const lines = entries.map(({ name }) => `${nameOf(join(folder, name))} ${name}\n`);
    writeFileSync(join(this.#disk, 'd', nameOf(folder)), lines.join(''));
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) this.#keep(path);
      else copyFileSync(path, join(this.#disk, 'i', nameOf(path)));
    }
  }

  #restore(name: string, to: string): void {
    const entries = readFileSync(join(this.#disk, 'd', name), 'utf8');
    mkdirSync(to, { mode: 0o700 });
    for (const line of entries.split('\n').slice(0, -1)) {
      const [file, ...words] = line.split(' ');
      const path = join(to, words.join(' '));
      if (existsSync(join(this.#disk, 'd', file!))) this.#restore(file!, path);
      // A name that was synced before its bytes.
      else if (!existsSync(join(this.#disk, 'i', file!))) writeFileSync(path, '', { mode: 0o600 });
      else copyFileSync(join(this.#disk, 'i', file!), path);
    }
  }
}

/** As lost-power.c names it. */
function nameOf(path: string): string {
  const { ino, birthtimeNs } = lstatSync(path, { bigint: true });
  return `${ino}.${birthtimeNs}`;
}

function sizeOf(folder: string): { bytes: number; names: number } {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  );
  const bytes = files.reduce(
    (sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).size,
    0,
  );
  return { bytes, names: files.length };
}
