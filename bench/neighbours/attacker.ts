/** A process that runs one attack until its parent ends it. */

import { ATTACKS, type Target } from './attacks.ts';

process.once('message', async ({ name, target }: { name: string; target: Target }) => {
  await ATTACKS.find((one) => one.name === name)!.run(target);
  process.send!('open');
});
process.once('disconnect', () => process.exit());
