import { writeFileSync } from 'node:fs';
import { serialize } from 'node:v8';

writeFileSync(3, serialize({ kind: 'bug', error: new TypeError('a mistake of ours') }));
