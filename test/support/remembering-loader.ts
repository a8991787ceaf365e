import { isRemote } from '../../src/config/contract/place.ts';
import { publicationOf } from '../../src/gateway/own/published/document.ts';
import {
  ContractLoader,
  isUnchanged,
  type Loaded,
  loadedOf,
  type Request,
} from '../../src/run/contracts/loader.ts';

const remembered = new Map<string, Loaded>();

/**
 * At a start, reads each contract once per Jest worker, which saves two thirds of a start. Reloads
 * always read.
 */
export class RememberingLoader extends ContractLoader {
  override async loadFirst(request: Request): Promise<Loaded> {
    const { contract } = request;
    const name = JSON.stringify([contract, publicationOf(request)]);
    const known = remembered.get(name);
    if (known && !isRemote(contract.file) && (await isUnchanged(known.contract)))
      return loadedOf(known.prepared);
    const loaded = await super.loadFirst(request);
    remembered.set(name, loaded);
    return loaded;
  }
}
