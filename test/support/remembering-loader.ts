import { isRemote } from '../../src/config/contract/place.ts';
import { publicationOf } from '../../src/gateway/own/published/document.ts';
import {
  ContractLoader,
  isUnchanged,
  type Loaded,
  type Request,
} from '../../src/run/contracts/loader.ts';

const remembered = new Map<string, Loaded>();

/**
 * At a start, reads and compiles each contract once per Jest worker, which saves two thirds of a
 * start. Reloads always read.
 */
export class RememberingLoader extends ContractLoader {
  override loadFirst(request: Request): Promise<Loaded> {
    return existing(request, () => super.loadFirst(request));
  }
}

export async function existing(request: Request, load: () => Promise<Loaded>): Promise<Loaded> {
  const { contract } = request;
  const name = JSON.stringify([request.name, contract, publicationOf(request)]);
  const earlier = remembered.get(name);
  if (earlier && !isRemote(contract.file) && (await isUnchanged(earlier.contract))) return earlier;
  const loaded = await load();
  remembered.set(name, loaded);
  return loaded;
}
