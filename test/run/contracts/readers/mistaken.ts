import { writeResult } from '../../../../src/run/contracts/pipe.ts';

writeResult({ kind: 'bug', error: new TypeError('a mistake of ours') });
