import { faultIn } from './check.ts';
import { lineOf } from './lines.ts';
import { type Batch, nameIn, type ValueOf } from './records.ts';

export type ReportSkipped = (record: string) => void;

/** The valid records of a batch; reports the others. */
export function validIn(batch: Batch, report: ReportSkipped): Batch {
  const { type } = batch;
  const values = (batch.values as readonly ValueOf[typeof type][]).filter((value) => {
    const fault = faultIn(type, lineOf(type, value));
    if (fault !== null) report(`${type} ${String(nameIn(type, value)).slice(0, 100)}: ${fault}`);
    return fault === null;
  });
  return { type, values } as Batch;
}
