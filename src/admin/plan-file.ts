import { mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMap, isSeq, parseDocument } from 'yaml';
import { loadPlans } from '../config/plans.ts';
import { ConfigError } from '../config/problems/problems.ts';
import { DEFAULT_KIND } from '../limits/kinds.ts';
import type { Plan, Plans } from '../limits/plans.ts';
import { AdminError } from './admin-error.ts';

/** The text of a plans file with this plan in place of the one of its name, if any; comments and all else stay. */
export function withPlan(text: string, { name, windows, count }: Plan): string {
  const document = parseDocument(text);
  const entries = windows?.map(({ limit, name: per, kind }) => ({
    limit,
    per,
    ...(kind !== DEFAULT_KIND && { kind }),
  }));
  const node = document.createNode({
    ...(entries ? { windows: entries } : { custom: true }),
    ...(count === 'account' && { count }),
  });
  const list = isMap(node) ? node.get('windows', true) : null;
  if (isSeq(list)) for (const item of list.items) if (isMap(item)) item.flow = true;
  document.setIn(['plans', name], node);
  return document.toString({ lineWidth: 0 });
}

/** Reads plans from a text as the loader does from a file. Throws AdminError with every mistake. */
export function checkPlans(text: string): Plans {
  const folder = mkdtempSync(join(tmpdir(), 'storegate-plans-'));
  try {
    writeFileSync(join(folder, 'plans.yaml'), text, { mode: 0o600 });
    return loadPlans('plans.yaml', folder);
  } catch (error) {
    if (error instanceof ConfigError) throw new AdminError('invalid_value', error.message);
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Replaces the whole file in one step: whoever reads it meanwhile finds the old text or the new one. Throws AdminError. */
export function replaceFile(file: string, text: string): void {
  const beside = `${file}.${process.pid}.new`;
  try {
    writeFileSync(beside, text, { mode: statSync(file).mode });
    renameSync(beside, file);
  } catch (error) {
    rmSync(beside, { force: true });
    const { code } = error as NodeJS.ErrnoException;
    throw new AdminError('conflict', `The plans file ${file} cannot be written (${code ?? 'unknown reason'}).`);
  }
}
