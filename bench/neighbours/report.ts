import { percentile } from '../statistics.ts';
import type { Outcome } from './business-client.ts';

export interface Row {
  readonly attack: string;
  readonly question: string;
  readonly gateway: string;
  readonly outcomes: readonly Outcome[];
  /** Responses to others; `null` if the gateway cannot be asked. */
  readonly others: number | null;
  /** Of the gateway; `null` if it has ended. */
  readonly cost: Cost | null;
}

export interface Cost {
  /** Seconds. */
  readonly cpu: number;
  /** MiB. */
  readonly memory: number;
}

const HEAD = [
  'attack',
  'client sends',
  'gateway',
  'requests',
  'failed',
  'p50 ms',
  'p99 ms',
  'worst ms',
];
const HEAD_OF_COST = ['others', 'CPU s', 'MiB'];

/** Prints each row at once, and at the end a table with the gateways beside each other. */
export class Report {
  readonly #cells = new Map<string, Map<string, string>>();

  begin(): void {
    const head = [...HEAD, ...HEAD_OF_COST];
    printRow(head);
    printRow(head.map(() => '---'));
  }

  add({ attack, question, gateway, outcomes, others, cost }: Row): void {
    const failed = failures(outcomes);
    const times = summary(outcomes);
    const costs = cost === null ? ['–', '–'] : [cost.cpu.toFixed(1), cost.memory.toFixed(0)];
    printRow([
      attack,
      question,
      gateway,
      `${outcomes.length}`,
      failed,
      ...times,
      `${others ?? '–'}`,
      ...costs,
    ]);
    const name = `${attack} | ${question}`;
    const cells = this.#cells.get(name) ?? new Map<string, string>();
    cells.set(gateway, `${failed} · ${times.join(' / ')}`);
    this.#cells.set(name, cells);
  }

  /** Cells: failed requests, and milliseconds p50 / p99 / worst. */
  end(gateways: readonly string[]): void {
    console.log('');
    printRow(['attack', 'client sends', ...gateways]);
    printRow(['---', '---', ...gateways.map(() => '---')]);
    for (const [name, cells] of this.#cells) {
      printRow([name, ...gateways.map((gateway) => cells.get(gateway) ?? '–')]);
    }
  }
}

function failures(outcomes: readonly Outcome[]): string {
  const counts = new Map<string, number>();
  for (const { result } of outcomes) {
    if (!result.startsWith('2')) counts.set(result, (counts.get(result) ?? 0) + 1);
  }
  return [...counts].map(([result, count]) => `${count} × ${result}`).join(', ') || '0';
}

/** A request without a response took until the client gave up. */
function summary(outcomes: readonly Outcome[]): string[] {
  const times = outcomes.map(({ took }) => took).sort((a, b) => a - b);
  const figures = [percentile(times, 0.5), percentile(times, 0.99), times.at(-1)!];
  return figures.map((time) => time.toFixed(time < 100 ? 1 : 0));
}

function printRow(cells: readonly string[]): void {
  console.log(`| ${cells.join(' | ')} |`);
}
