import gateway from 'fast-gateway';
import { backendUrl, port } from './environment.ts';

const backend = { prefix: '/pets', prefixRewrite: '/pets', pathRegex: '', target: backendUrl };

await gateway({ routes: [backend] }).start(port, '127.0.0.1');
