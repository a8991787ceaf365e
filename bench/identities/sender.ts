import { connect } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import { ANSWERS, type Kind, requestOf } from './kinds.ts';

/** What the thread is started with. */
export interface Sending {
  readonly kind: Kind;
  readonly port: number;
  readonly secrets: string;
}

const CONNECTIONS = 16;
/** Requests on their way on each connection. */
const AHEAD = 16;
const { kind, port, secrets } = workerData as Sending;
let number = 0;

/** Sends so many requests and answers when all are answered. */
parentPort!.on('message', async (count: number) => {
  const share = Math.ceil(count / CONNECTIONS);
  await Promise.all(Array.from({ length: CONNECTIONS }, () => send(share)));
  parentPort!.postMessage('done');
});

function send(count: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    let [sent, answered, text] = [0, 0, ''];
    const fill = () => {
      let batch = '';
      for (; sent < count && sent - answered < AHEAD; sent++) batch += requestOf(kind, number++, secrets);
      if (batch !== '') socket.write(batch);
      if (answered === count) socket.end();
    };
    socket.on('connect', fill).on('error', reject).on('close', resolve);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      let end = 0;
      for (const { 1: status, index, 0: line } of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        if (!ANSWERS[kind].includes(status!)) reject(new Error(`the gateway answered ${status}`));
        answered++;
        end = index + line.length;
      }
      text = text.slice(Math.max(end, text.length - 12));
      if (sent - answered <= AHEAD / 2) fill();
    });
  });
}
