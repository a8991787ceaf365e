import { AddressRules } from '../src/callers/address-rules.ts';
import { listsOf } from '../src/common/address-lists.ts';

/**
 * What long lists of addresses cost: putting them in force, and one look-up.
 *
 *     node --disable-warning=ExperimentalWarning bench/addresses.ts [BLOCKS]
 */
const BLOCKS = Number(process.argv[2] ?? 50_000);
const LOOKUPS = 1_000_000;

const random = (most: number) => Math.floor(Math.random() * most);
const hex = () => random(65_536).toString(16);
const families = {
  IPv4: () => `${random(224)}.${random(256)}.${random(256)}.${random(256)}`,
  IPv6: () =>
    `2${random(4096).toString(16).padStart(3, '0')}:${hex()}:${hex()}:${hex()}:${hex()}:${hex()}:${hex()}:${hex()}`,
};

/** Microseconds of CPU. */
function cpuOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

for (const [family, address] of Object.entries(families)) {
  const entries = Array.from({ length: BLOCKS }, address);
  const asked = Array.from({ length: 4_096 }, address);
  let rules!: AddressRules;
  const build = cpuOf(() => {
    rules = new AddressRules('addresses', listsOf([], entries));
  });
  let refused = 0;
  const lookups = cpuOf(() => {
    for (let i = 0; i < LOOKUPS; i++) if (rules.refusing(asked[i % asked.length]!) !== null) refused++;
  });
  console.log(
    `${family}: ${BLOCKS} entries in force after ${(build / 1_000).toFixed(0)} ms of CPU; a look-up ${(lookups / LOOKUPS).toFixed(2)} µs (${refused} refused)`,
  );
}
