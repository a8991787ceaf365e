import gateway from 'fast-gateway';
import { backendUrl, port } from './environment.ts';

const store = { prefix: '/pets', prefixRewrite: '/pets', pathRegex: '', target: backendUrl };

await gateway({ routes: [store] }).start(port, '127.0.0.1');
