import { ContractError } from '@storegate/openapi';
import { loadContract, type ReadContract } from '../../src/config/contract/contract.ts';
import { judgeExamples } from './examples.ts';
import type { Order, Outcome } from './loader.ts';
import { judgeRequests } from './requests.ts';

/** As `storegate check` reads a contract if no setting is changed. */
const SETTINGS = { responses: 'off' } as const;

const NOTHING = { operations: 0, notes: 0, problems: [], judgement: null, examples: null };

type Loaded = Omit<Outcome, 'cpuSeconds' | 'memory'>;

function load(file: string): Loaded & { readonly contract: ReadContract | null } {
  try {
    const contract = loadContract(file, SETTINGS);
    const { operations, notes } = contract;
    return { ...NOTHING, operations: operations.length, notes: notes.length, contract };
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    const problems = error.problems.map(({ file, place, message }) => ({
      file,
      pointer: place.split(' ')[1] ?? '',
      message,
    }));
    return { ...NOTHING, problems, contract: null };
  }
}

// The sampler warns of mistakes in schemas.
console.warn = () => {};

process.on('message', ({ file, tools }: Order) => {
  const before = process.cpuUsage();
  const { contract, ...loaded } = load(file);
  const { user, system } = process.cpuUsage(before);
  const memory = Math.round(process.resourceUsage().maxRSS / 1024);
  const judgement = contract && tools !== null ? judgeRequests(contract, tools) : null;
  const examples = contract && tools !== null ? judgeExamples(contract) : null;
  process.send!({ ...loaded, examples, cpuSeconds: (user + system) / 1e6, memory, judgement });
});
