/**
 * At least one mistake for each folder of src and each package, with the suite that must fail.
 * CONTRIBUTING.md describes one of each, and `npm run test:mutations` makes them all.
 */
export interface Mutation {
  readonly file: string;
  /** Occurs once in the file. */
  readonly text: string;
  readonly replacement: string;
  readonly suite: string;
}

export const MUTATIONS: readonly Mutation[] = [
  {
    file: 'src/limits/ban-escalation.ts',
    text: 'return wait.refusals > freeIn(escalation, units);',
    replacement: 'return wait.refusals >= freeIn(escalation, units);',
    suite: 'test/limits',
  },
  {
    file: 'src/common/clients/address-window.ts',
    text: 'result: refused as RateLimiterRes, exhausted: true',
    replacement: 'result: refused as RateLimiterRes, exhausted: false',
    suite: 'test/common/clients',
  },
  {
    file: 'src/config/windows.ts',
    text: 'if (same === index) return [];',
    replacement: 'if (same <= index) return [];',
    suite: 'test/config/windows.test.ts',
  },
  {
    file: 'src/observe/log-output.ts',
    text: 'if (lastMoment !== null) return;',
    replacement: '',
    suite: 'test/observe/log-output.test.ts',
  },
  {
    file: 'src/ledger/parts.ts',
    text: 'part.number < open',
    replacement: 'part.number <= open',
    suite: 'test/ledger',
  },
  {
    file: 'src/state/redis/lua/admit-n.lua',
    text: 'if used[i] + cost > w.limit and',
    replacement: 'if used[i] + cost >= w.limit and',
    suite: 'test/state/equal.test.ts',
  },
  {
    file: 'src/records/keys/secret.ts',
    text: 'return text.slice(cut + 1) === checksum(text.slice(0, cut));',
    replacement: 'return text.slice(cut + 1).length === CHECKSUM_DIGITS;',
    suite: 'test/records/keys',
  },
  {
    file: 'src/webhooks/send.ts',
    text: "redirect: 'manual',",
    replacement: "redirect: 'follow',",
    suite: 'test/webhooks/send.test.ts',
  },
  {
    file: 'src/gateway/stages/authenticate.ts',
    text: 'client.retiresAt <= clock()',
    replacement: 'client.retiresAt < clock()',
    suite: 'test/gateway/stages',
  },
  {
    file: 'src/gateway/stages/in-flight.ts',
    text: 'flight.count--;',
    replacement: '',
    suite: 'test/gateway/stages/in-flight.test.ts',
  },
  {
    file: 'src/gateway/upstream/health.ts',
    text: 'if (why === null || (isMild && !mayGo())) return false;',
    replacement: 'if (why === null) return false;',
    suite: 'test/gateway/upstream/health.test.ts',
  },
  {
    file: 'src/gateway/upstream/retries.ts',
    text: "return on.includes('reset') && isIdempotent(method);",
    replacement: "return on.includes('reset');",
    suite: 'test/hostile/backend-faults.test.ts',
  },
  {
    file: 'src/admin/gate.ts',
    text: 'const GUESSES = { failures: 10,',
    replacement: 'const GUESSES = { failures: 100,',
    suite: 'test/admin/gate.test.ts',
  },
  {
    file: 'src/store/schema.ts',
    text: "'new.quantity < 0'",
    replacement: "'new.quantity < -1'",
    suite: 'test/store',
  },
  {
    file: 'src/run/reload.ts',
    text: '!wasRefused &&\n',
    replacement: '\n',
    suite: 'test/run/reload.test.ts',
  },
  {
    file: 'src/cli/importing/passes.ts',
    text: 'if (before === undefined) {',
    replacement: 'if (true) {',
    suite: 'test/cli/importing',
  },
  {
    file: 'packages/http1/src/framing.ts',
    text: 'if (lengths.length > 0)\n',
    replacement: 'if (lengths.length > 1)\n',
    suite: 'packages/http1/test/cases.test.ts',
  },
  {
    file: 'packages/openapi/src/numbers.ts',
    text: '(value % divisor) * power(',
    replacement: '(value % (divisor + 1n)) * power(',
    suite: 'packages/openapi/test/numbers.test.ts',
  },
  {
    file: 'packages/admin-api/src/client.ts',
    text: 'return encodeURIComponent(value);',
    replacement: 'return value;',
    suite: 'packages/admin-api',
  },
  {
    file: 'packages/pages/src/html.ts',
    text: '/[&<>"\']/g',
    replacement: '/[&<>"]/g',
    suite: 'packages/pages',
  },
  {
    file: 'packages/reference/src/browser/model/snippets.ts',
    text: `text.replaceAll("'", "'\\\\''")`,
    replacement: 'text',
    suite: 'packages/reference',
  },
  {
    file: 'packages/console/src/browser/views/requests/tail.ts',
    text: '({ repeated }) => repeated + 1',
    replacement: '({ repeated }) => repeated',
    suite: 'packages/console',
  },
  {
    file: 'src/common/reserved-fields.ts',
    text: "  'keep-alive',\n",
    replacement: '',
    suite: 'test/gateway/wire/fields.test.ts',
  },
  {
    file: 'src/limits/windows.ts',
    text: 'const JITTER = 1_000;',
    replacement: 'const JITTER = 0;',
    suite: 'test/limits/windows.test.ts',
  },
  {
    file: 'src/limits/windows.ts',
    text: 'Math.max(cells[at]!, slotOf(window, now)) - SLOTS',
    replacement: 'slotOf(window, now) - SLOTS',
    suite: 'test/limits/windows.test.ts',
  },
  {
    file: 'src/limits/windows.ts',
    text: 'if (cells[at]! > now) cells[at] = now;',
    replacement: '',
    suite: 'test/limits/windows.test.ts',
  },
  {
    file: 'src/limits/windows.ts',
    text: 'if (newest <= slot) return;',
    replacement: 'return;',
    suite: 'test/limits/windows.test.ts',
  },
  {
    file: 'src/state/rows/row-writer.ts',
    text: 'reply.error !== null',
    replacement: 'reply.error === undefined',
    suite: 'test/state/rows.test.ts',
  },
  {
    file: 'src/state/rows/pending-rows.ts',
    text: 'rows.set(name, values[i]!)',
    replacement: 'rows.has(name) || rows.set(name, values[i]!)',
    suite: 'test/state/rows.test.ts',
  },
  {
    file: 'packages/openapi/src/patterns/automaton.ts',
    text: 'if (empty > 1) ambiguous = true;',
    replacement: '',
    suite: 'packages/openapi/test/patterns.test.ts',
  },
  {
    file: 'packages/openapi/src/patterns/automaton.ts',
    text: 'if (part.empty) ambiguous = true;',
    replacement: '',
    suite: 'packages/openapi/test/patterns.test.ts',
  },
  {
    file: 'packages/openapi/src/patterns/matcher.ts',
    text: 'MAX_CREDIT = 100_000;',
    replacement: 'MAX_CREDIT = 100_000_000;',
    suite: 'packages/openapi/test/patterns.test.ts',
  },
  {
    file: 'packages/openapi/src/nearest.ts',
    text: 'const LONGEST = 64;',
    replacement: 'const LONGEST = 6_400;',
    suite: 'packages/openapi/test/nearest.test.ts',
  },
  {
    file: 'packages/openapi/src/nearest.ts',
    text: 'const MOST = 200;',
    replacement: 'const MOST = 20_000;',
    suite: 'packages/openapi/test/nearest.test.ts',
  },
  {
    file: 'packages/openapi/src/nearest.ts',
    text: '    least = distance;\n',
    replacement: '',
    suite: 'packages/openapi/test/nearest.test.ts',
  },
  {
    file: 'packages/openapi/src/nearest.ts',
    text: 'distance * 3 > candidate.length',
    replacement: 'distance > candidate.length',
    suite: 'packages/openapi/test/nearest.test.ts',
  },
];
