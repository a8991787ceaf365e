import { jest } from '@jest/globals';
import { ContractLoader } from '../../src/run/contracts/loader.ts';
import { existing } from './remembering-loader.ts';

/** Until the suite ends, also for gateways that commands start in this process. */
export function rememberContracts(): void {
  const { loadFirst } = ContractLoader.prototype;
  jest.spyOn(ContractLoader.prototype, 'loadFirst').mockImplementation(function (
    this: ContractLoader,
    request,
  ) {
    return existing(request, () => loadFirst.call(this, request));
  });
}
