import { RULES } from '@storegate/openapi';
import { ERROR_CODES } from '../../src/errors/refusals.ts';

function ruleRows(): string[] {
  const rules: [string, { title: string; limit?: string }][] = Object.entries(RULES);
  return rules.map(([rule, { title, limit = '' }]) => `| \`${rule}\` | ${title} | ${limit} |`);
}

/** The catalogue of error codes as Markdown; docs/errors.md is this text. */
export function errorCodes(): string {
  const rows = ERROR_CODES.map(
    ({ code, status, title, advice }) => `| ${status} | \`${code}\` | ${title} | ${advice} |`,
  );
  return `# Error codes

Every error of the gateway is \`{"code", "message", "status"}\` with \`Content-Type: application/json\`. Programs look at \`code\`,
people at \`message\`. The answer's \`X-Request-Id\` finds the request in the gateway's log, and
\`storegate explain\` tells operators why it was refused. The store has codes of its own for what
it refuses (such as \`unknown_category\`), in the same form.

\`400 invalid_request\` adds \`details\`: one \`{"in", "pointer", "message", "rule", "limit"}\` for each fault, where \`in\` is \`path\`,
\`query\`, \`header\`, \`cookie\` or \`body\`, \`pointer\` a JSON pointer (RFC 6901), and \`rule\` a word of the table below. \`limit\` is what
the contract asks for, and never a value that was sent; it is left out where there is nothing to tell.

A caller whose \`Accept\` prefers \`application/problem+json\` to \`application/json\` gets the same as an object of RFC 9457: with
\`type\` (the entry of the code in the reference), \`title\` and \`detail\` besides. Input that is no HTTP is answered in plain JSON.

| status | code | meaning | what to do |
|---|---|---|---|
${rows.join('\n')}

## Rules

Each fault in \`details\` breaks one rule. Rules never change their meaning; new ones may come. A number in \`limit\` that a double
cannot hold exactly is a text of its digits.

| rule | meaning | limit |
|---|---|---|
${ruleRows().join('\n')}
`;
}
