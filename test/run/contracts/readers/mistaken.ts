import { sendAnswer } from '../../../../src/run/contracts/answer.ts';

sendAnswer({ kind: 'bug', error: new TypeError('a mistake of ours') });
