import type { AuditEntry } from '../../keys/operators/audit-log.ts';
import { TransferError } from './file-format.ts';
import { Fingerprints } from './fingerprints.ts';
import type { Source, Target } from './port.ts';
import { prefetch } from './prefetch.ts';
import { type Batch, nameIn, noCounts, type ValueOf } from './records.ts';
import { entryPrint, SOMETHING_ELSE } from './rules.ts';

const KIND_NAMES = { key: 'keys', token: 'tokens', audit: 'audit entries', ban: 'entries about bans' } as const;
type RecordKind = keyof typeof KIND_NAMES;

/** Throws TransferError if the target holds keys, tokens or entries that the source lacks: states are never merged. */
export async function rejectMerge(source: Source, target: Target): Promise<void> {
  if (!(await target.isUsed())) return;
  const known = new Fingerprints();
  const oldest: Partial<Record<RecordKind, number>> = {};
  for await (const { type, values } of prefetch(source.read())) {
    if (!isCompared(type)) continue;
    for (const value of values) known.add(printOf(type, value));
    const [first] = values;
    if (first && isLog(type)) oldest[type] ??= (first as AuditEntry).at;
  }
  const extra = noCounts();
  for await (const { type, values } of target.held()) {
    if (!isCompared(type)) continue;
    const isOther = (value: Batch['values'][number]) =>
      !known.has(printOf(type, value)) && !(isLog(type) && isDropped(value as AuditEntry, oldest[type]));
    extra[type] += (values as Batch['values'][number][]).filter(isOther).length;
  }
  const counts = (Object.keys(KIND_NAMES) as RecordKind[]).filter((type) => extra[type] > 0);
  if (counts.length === 0) return;
  const held = counts.map((type) => `${extra[type]} ${KIND_NAMES[type]}`).join(', ');
  throw new TransferError(
    `${target.name} has ${held} that ${source.name} does not have: nothing was changed. ${SOMETHING_ELSE}`,
  );
}

function isCompared(type: Batch['type']): type is RecordKind {
  return type in KIND_NAMES;
}

function isLog(type: RecordKind): type is 'audit' | 'ban' {
  return type === 'audit' || type === 'ban';
}

/** Whether an entry is of a transfer, or may have been dropped from the log of the source. */
function isDropped({ action, at }: AuditEntry, oldest: number | undefined): boolean {
  return action === 'state.import' || (oldest !== undefined && at < oldest);
}

function printOf(type: RecordKind, value: Batch['values'][number]): string {
  return isLog(type)
    ? `${type} ${entryPrint(value as AuditEntry)}`
    : `${type} ${nameIn(type, value as ValueOf[typeof type])}`;
}
