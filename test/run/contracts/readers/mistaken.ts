import { writeAnswer } from '../../../../src/run/contracts/pipe.ts';

writeAnswer({ kind: 'bug', error: new TypeError('a mistake of ours') });
