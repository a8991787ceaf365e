import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { PlanDraft } from '@storegate/admin-api';
import {
  Document,
  isMap,
  isSeq,
  type Node,
  parseDocument,
  type Scalar,
} from 'yaml';
import { createFile, replaceFile } from '../common/folder.ts';
import { tryLock } from '../common/lock.ts';
import { shippedFiles } from '../config/load.ts';
import { addressesOf, parsePlans } from '../config/plans.ts';
import { dotted, step } from '../config/problems/pointers.ts';
import { ConfigError } from '../config/problems/problems.ts';
import { parseChangedWindows, toEntry } from '../config/windows.ts';
import { indented, lineAfter, spliced } from '../config/yaml/splice.ts';
import type { Window } from '../limits/limits.ts';
import type { Plan, PlanAddresses, Plans } from '../limits/plans.ts';
import { fullNameOf } from '../limits/scopes.ts';
import { AdminError, faultOf } from './admin-error.ts';

/** Milliseconds between two attempts, and the timeout. */
const RETRY = 20;
const LOCK_TIMEOUT = 10_000;

/** @param text that `checkPlans` has accepted */
export function withPlan(text: string, plan: Plan): string {
  const document = parseDocument(text);
  const at = placeOf(document, plan.name, text);
  document.setIn(['plans', plan.name], nodeOf(document, plan));
  const splice = at && { ...at, block: blockOf(plan, at.indent) };
  return spliced(text, document, splice);
}

/** `null`: the document is in another style. */
function placeOf(document: Document, name: string, text: string) {
  const plans = document.get('plans', true);
  if (
    !isMap<Scalar<string>, Node>(plans) ||
    plans.flow ||
    plans.items.length === 0
  )
    return null;
  const existing = plans.items.find(({ key }) => key.value === name);
  const { key, value } = existing ?? plans.items.at(-1)!;
  if (!key.range || !value?.range) return null;
  const start = text.lastIndexOf('\n', key.range[0]) + 1;
  const lineEnd = lineAfter(text, value);
  return {
    start: existing ? start : lineEnd,
    end: lineEnd,
    indent: key.range[0] - start,
  };
}

function nodeOf(
  document: Document,
  { windows, count, concurrency, weight, workers, addresses }: Plan,
): Node {
  const entries = windows?.map(toEntry);
  const node = document.createNode({
    ...(entries ? { windows: entries } : { custom: true }),
    ...(count === 'account' && { count }),
    concurrency,
    weight,
    workers,
    addresses: addresses && withoutEmpty(addresses),
  });
  const lists = node.get('addresses', true);
  if (isMap(lists))
    for (const { value } of lists.items) if (isSeq(value)) value.flow = true;
  const list = node.get('windows', true);
  if (isSeq(list))
    for (const item of list.items) if (isMap(item)) item.flow = true;
  return node;
}

const withoutEmpty = (lists: PlanAddresses) =>
  Object.fromEntries(
    Object.entries(lists).filter(([, addresses]) => addresses.length > 0),
  );

/** In the style of the shipped file. */
function blockOf(plan: Plan, indent: number): string {
  const document = new Document({});
  document.setIn([plan.name], nodeOf(document, plan));
  return indented(document.toString({ lineWidth: 0 }), indent);
}

/**
 * As `parsePlans`, for a text that is valid but for the plan `name`, whose draft it has: no file has
 * the places of its mistakes. Throws AdminError.
 */
export function checkDraftIn(
  text: string,
  name: string,
  apis: readonly string[],
): Plans {
  try {
    return parsePlans(text, apis);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const own = dotted(step('/plans', name));
    const details = error.problems.flatMap(({ place, message }) => {
      const field = place.path.slice(own.length).match(/[^.[\]]+/g) ?? [];
      return faultOf(field.join('/'), message);
    });
    const sentences = details.map(({ pointer, message }) =>
      `${pointer.slice(1)} ${message}`.trim(),
    );
    const reason = `Plan ${JSON.stringify(name)} is invalid: ${sentences.join('; ')}.`;
    throw new AdminError('invalid_value', reason, { details });
  }
}

/** Throws AdminError. */
export async function replacePlans(file: string, text: string): Promise<void> {
  try {
    await replaceFile(file, text, statSync(file));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AdminError(
      'conflict',
      `The plans file ${file} cannot be written (${code ?? 'unknown reason'}).`,
    );
  }
}

/**
 * Runs `work` under a lock if `file` still has `text`; else returns `null`.
 *
 * Gateways and local commands may share a plans file. Comparing under the lock prevents lost
 * updates. The lock is held until the plans are in force or rolled back, so no change builds on a
 * text that is rolled back. Editors take no lock: for them there is only the comparison.
 *
 * @throws {AdminError} if the lock is not available
 */
export async function whileUnchanged<T>(
  file: string,
  text: string,
  work: () => Promise<T>,
): Promise<T | null> {
  const lock = await lockOf(linkTarget(file));
  try {
    return readFileSync(file, 'utf8') === text ? await work() : null;
  } finally {
    lock.release();
  }
}

/**
 * The file that the plans file leads to: gateways that reach it by other links take the same lock.
 * Throws AdminError if it cannot be changed for good.
 */
function linkTarget(file: string): string {
  const target = realPath(file);
  // Kubernetes mounts names that lead through `..data` to such a folder, which it replaces.
  if (basename(dirname(target)).startsWith('..'))
    throw new AdminError(
      'conflict',
      `The plans file ${file} is mounted from a ConfigMap or a Secret: change it there.`,
    );
  // In a clone it is the file of the working directory too.
  if (target === shippedFiles.plans && dirname(target) !== process.cwd())
    throw new AdminError(
      'conflict',
      `The plans file ${file} is part of the program, and an upgrade replaces it: copy it to plans.yaml in the working directory of the gateway, and reload.`,
    );
  return target;
}

function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reasons: Readonly<Record<string, string>> = {
      ENOENT: 'it, or the file that it links to, is missing',
      ELOOP: 'it is a symbolic link that leads back to itself',
    };
    throw new AdminError(
      'conflict',
      `The plans file ${file} cannot be written: ${reasons[code] ?? code}.`,
    );
  }
}

async function lockOf(file: string): Promise<{ release(): void }> {
  const name = `${file}.lock`;
  const giveUpAt = performance.now() + LOCK_TIMEOUT;
  try {
    // With the access of the plans file, so that a lock of root does not block the gateway.
    createFile(name, statSync(file));
    for (;;) {
      const lock = tryLock(name);
      if (lock) return lock;
      if (performance.now() > giveUpAt)
        throw new AdminError(
          'conflict',
          `Another process is changing the plans file ${file}: try again.`,
        );
      await setTimeout(RETRY);
    }
  } catch (error) {
    if (error instanceof AdminError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === 'ERR_SQLITE_ERROR' ? message : (code ?? message);
    throw new AdminError(
      'conflict',
      `The plans file ${file} cannot be locked with ${name} (${reason}).`,
    );
  }
}

/** Throws AdminError, and ConfigError for invalid limits. */
export function changedPlan(
  name: string,
  old: Plan | undefined,
  draft: PlanDraft,
): Plan {
  const concurrency =
    draft.concurrency === undefined ? old?.concurrency : draft.concurrency;
  const workers = draft.workers === undefined ? old?.workers : draft.workers;
  const weight = draft.weight ?? old?.weight;
  return {
    name,
    count: draft.count ?? old?.count ?? 'key',
    windows: windowsAfter(name, old, draft),
    ...(typeof concurrency === 'number' && { concurrency }),
    ...(weight !== undefined && { weight }),
    ...(typeof workers === 'number' && { workers }),
    ...addressesOf(
      draft.addresses === undefined ? old?.addresses : draft.addresses,
    ),
  };
}

function windowsAfter(
  plan: string,
  before: Plan | undefined,
  { limits, drop = [] }: PlanDraft,
): readonly Window[] | null {
  const isCustom =
    before?.windows === null && limits === undefined && drop.length === 0;
  if (limits === null || isCustom) return null;
  const old = before?.windows ?? [];
  const names = old.map(fullNameOf);
  const unknown = drop.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const existing = names.join(', ') || 'none';
    const message = `plan ${plan} has no window ${JSON.stringify(unknown)} to drop; it has: ${existing}`;
    throw new AdminError('invalid_value', `P${message.slice(1)}.`, {
      details: faultOf('drop', message),
    });
  }
  const kept = old.filter((window) => !drop.includes(fullNameOf(window)));
  // A window that is both dropped and named keeps nothing.
  const named = limits === undefined ? [] : parseChangedWindows(limits, kept);
  const stays = (window: Window) =>
    !named.some(
      ({ span, scope }) => span === window.span && scope === window.scope,
    );
  const windows = [...kept.filter(stays), ...named].sort(
    (a, b) => a.span - b.span,
  );
  if (windows.length > 0) return windows;
  throw new AdminError(
    'invalid_value',
    `Plan ${plan} would have no window: give it limits, or none of its own (--custom).`,
  );
}
