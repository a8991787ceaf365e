import { loadConfig } from '../../config/load.ts';
import { changesText } from '../../state/embedded/inventory.ts';
import { repairFolder } from '../../state/embedded/repair.ts';
import { TransferError } from '../../state/transfer/file-format.ts';
import type { Terminal } from '../terminal.ts';

/** Lets gateways start on a data folder that lacks files, and prints what it lacks. */
export async function repair(terminal: Terminal, { json = false }: { readonly json?: boolean }): Promise<void> {
  const { redis, data } = loadConfig(terminal);
  if (redis !== null)
    throw new TransferError('the state of this configuration is in Redis: there is no file to repair');
  const lacked = await repairFolder(data);
  terminal.out(json ? `${JSON.stringify({ folder: data, ...lacked })}\n` : `${sentence(data, lacked)}\n`);
}

function sentence(folder: string, { files, changes }: Awaited<ReturnType<typeof repairFolder>>): string {
  const lacked = [...files, ...(changes > 0 ? [changesText(changes)] : [])];
  if (lacked.length === 0) return `Nothing is missing in ${folder}.`;
  return `Gateways start on ${folder} again, without ${lacked.join(', ')}.`;
}
