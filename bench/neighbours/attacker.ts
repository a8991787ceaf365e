/** A process that runs one attack of the table until its parent ends it. */

import { ATTACKS } from './all.ts';
import type { Target } from './table.ts';

export interface Order {
  readonly name: string;
  readonly target: Target;
}

process.once('message', async ({ name, target }: Order) => {
  await ATTACKS.find((one) => one.name === name)!.run(target);
  process.send!('open');
});
process.once('disconnect', () => process.exit());
