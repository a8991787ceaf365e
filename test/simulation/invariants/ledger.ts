import { SECOND } from '../../../src/common/time.ts';
import { unpackRows } from '../../../src/ledger/usage-table.ts';
import type { Reply } from '../facts.ts';
import { OPERATIONS } from '../gateway/operations.ts';
import type { MakeInvariant } from './invariant.ts';

/** Milliseconds that a killed process may not have stored: a second, and the way to the store. */
const UNSTORED = 2 * SECOND;

/** The ledger has the units of every admitted request once, whatever failed, and by any clock. */
export const ledger: MakeInvariant = ({ simulation, disturbances }) => {
  /** Of each key: what was admitted, what may be missing, and what may have been admitted. */
  const charged = new Map<string, { units: number; missing: number; unanswered: number }>();

  function note({ key, admission, operation, status, gateway, sentAt, respondedAt }: Reply): void {
    const existing = charged.get(key!.id) ?? { units: 0, missing: 0, unanswered: 0 };
    charged.set(key!.id, existing);
    const { cost } = OPERATIONS[operation];
    if (status === 0) existing.unanswered += cost;
    if (admission?.verdict !== 'admitted') return;
    existing.units += cost;
    unjudged.push({ id: key!.id, cost, gateway, sentAt, respondedAt });
  }

  interface Charge extends Pick<Reply, 'gateway' | 'sentAt' | 'respondedAt'> {
    readonly id: string;
    readonly cost: number;
  }
  /** Those whose loss may still come. */
  let unjudged: Charge[] = [];

  function judge(): void {
    for (const { id, cost, gateway, respondedAt } of unjudged) {
      const end = respondedAt + UNSTORED;
      // A paused process stores nothing.
      const pauses = disturbances.between(respondedAt, end, ['pause'], gateway);
      const until = Math.max(end, ...pauses.map((pause) => pause.until));
      const losses = disturbances.between(respondedAt - SECOND, until, ['loss'], gateway);
      if (losses.length > 0) charged.get(id)!.missing += cost;
    }
    unjudged = [];
  }

  async function found(): Promise<Map<string, number>> {
    const { world, gateways } = simulation;
    const units = new Map<string, number>();
    // A clock may have been off by years.
    const period = { from: 0, to: Number.POSITIVE_INFINITY };
    const read = async () => {
      const { flush, reader } = gateways[0]!.running!.access;
      await flush();
      for await (const value of reader.values(period, 'day'))
        for (const rows of value.usage())
          unpackRows(rows, ({ clients }) => (row) => {
            const { key } = clients[row.client]!;
            if (key !== null) units.set(key, (units.get(key) ?? 0) + row.units);
          });
    };
    await world.settle(gateways[0]!.within(read));
    return units;
  }

  return {
    name: 'the ledger has what was admitted',
    observe(fact) {
      if (fact.type === 'answer' && fact.answer.key?.id) note(fact.answer);
      return null;
    },
    async check() {
      judge();
      const inLedger = await found();
      for (const [id, { units, missing, unanswered }] of charged) {
        const counted = inLedger.get(id) ?? 0;
        if (counted < units - missing || counted > units + unanswered)
          return `${units - missing} to ${units + unanswered} units of ${id} in the ledger, not ${counted}`;
      }
      return null;
    },
  };
};
