import {
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isLoopback } from '../config/schema/formats.ts';
import { makeFolder } from './embedded/file.ts';
import { tryLockIn } from './embedded/lock.ts';

/**
 * How commands in the folder of a gateway reach it. The token is valid for this run only, so
 * another gateway at the same address rejects it. Read access to it implies write access to the
 * folder.
 */
export interface Announcement {
  readonly url: string;
  readonly token: string;
  /** PEM, in force. Commands accept exactly these, because the address may not be in them. */
  readonly certificates: readonly string[];
  /** From `redisPlace`; `null`: embedded state. */
  readonly redis: string | null;
}

export type Announcer = ReturnType<typeof openAnnouncer>;

const FORM = /^gateway\.(\d+)\.json$/;

/**
 * Takes a free place in `folder`, which gateways on Redis may share. The place ends with the
 * process, even after a crash. Throws StateFileError.
 */
export function openAnnouncer(folder: string) {
  makeFolder(folder);
  let number = 1;
  let lock = tryPlace(folder, number);
  while (lock === null) lock = tryPlace(folder, ++number);
  const { release } = lock;
  const file = fileAt(folder, number);
  return {
    announce(announcement: Announcement): void {
      const next = `${file}.new`;
      writeFileSync(next, JSON.stringify(announcement), { mode: 0o600 });
      renameSync(next, file);
    },
    close(): void {
      try {
        rmSync(file, { force: true });
      } finally {
        release();
      }
    },
  };
}

/**
 * The gateways that run on `folder`, as far as it can be read: a command that cannot read it uses
 * Redis, or states why it cannot use the folder. Removes the announcements of crashed gateways.
 */
export function announcementsIn(folder: string): Announcement[] {
  return namesIn(folder)
    .flatMap((name) => FORM.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((one, other) => one - other)
    .flatMap((number) => runningAt(folder, number) ?? []);
}

/** Host, port and database of a Redis, without user and password. */
export function redisPlace(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  const host = isLoopback(hostname.replace(/[[\]]/g, ''))
    ? 'localhost'
    : hostname;
  return `${host}:${port || 6379}/${pathname.slice(1) || '0'}`;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const tryPlace = (folder: string, number: number) =>
  tryLockIn(folder, `gateway.${number}.lock`);

const fileAt = (folder: string, number: number): string =>
  join(folder, `gateway.${number}.json`);

function runningAt(folder: string, number: number): Announcement | null {
  const file = fileAt(folder, number);
  const announcement = readAnnouncement(file);
  if (announcement === null) return null;
  try {
    const lock = tryPlace(folder, number);
    if (lock === null) return announcement;
    rmSync(file, { force: true });
    lock.release();
    return null;
  } catch {
    // The folder is read-only here. A call to the gateway shows whether it runs.
    return announcement;
  }
}

/** `null` also for a file of another user. */
function readAnnouncement(file: string): Announcement | null {
  try {
    const {
      url,
      token,
      certificates,
      redis = null,
    } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Announcement>;
    const isWhole =
      typeof url === 'string' &&
      typeof token === 'string' &&
      Array.isArray(certificates);
    return isWhole ? { url, token, certificates, redis } : null;
  } catch {
    return null;
  }
}
