import { loadSections } from '../../config/load.ts';
import { TransferError } from '../../records/transfer/form.ts';
import { changesText } from '../../state/embedded/inventory.ts';
import { repairFolder } from '../../state/embedded/repair.ts';
import { type OutputOptions, print } from '../output.ts';
import type { Terminal } from '../terminal.ts';

/** Lets gateways start on a data folder with missing files. */
export async function repair(
  terminal: Terminal,
  options: OutputOptions,
): Promise<void> {
  const { redis, data: folder } = loadSections(terminal);
  if (redis !== null)
    throw new TransferError(
      'The state of this configuration is in Redis: it has no files to repair.',
    );
  const lacked = await repairFolder(folder);
  print(
    terminal,
    options,
    { folder, ...lacked },
    ({ files, changes }, page) => {
      const lost = [...files, ...(changes > 0 ? [changesText(changes)] : [])];
      if (lost.length === 0)
        return page.notes(
          `No file is missing in ${folder}. Nothing was changed.`,
        );
      return page.notes(
        `Gateways start on ${folder} again, without ${lost.join(', ')}.`,
      );
    },
  );
}
