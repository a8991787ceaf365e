import { give } from '../../../../src/run/contracts/answer.ts';

give({ kind: 'bug', error: new TypeError('a mistake of ours') });
