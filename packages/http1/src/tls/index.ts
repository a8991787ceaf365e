export {
  type ClientMaterial,
  type ClientTls,
  clientTls,
  tlsTrouble,
} from './client.ts';
export { certificatesIn, keyIn, namesIn, UnfitPem } from './pem.ts';
export {
  makeTicketSecret,
  type Pair,
  type ServerMaterial,
  serverTls,
} from './server.ts';
