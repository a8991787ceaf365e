import { existsSync } from 'node:fs';
import { ROW_FILE, removeRowFile } from '../rows/row-file.ts';
import { noteMissingUsage } from '../usage-folder.ts';
import { lossesIn, openForRepair, StateFileError } from './file.ts';
import {
  forgetLastChange,
  forgetRowFile,
  lastChangeIn,
  missingRowFile,
  noteLastChange,
} from './inventory.ts';
import { lockStoppedFolder } from './lock.ts';

/**
 * Lets gateways start with the remaining data of a folder. Returns the missing files, and the
 * number of recent operator changes that `state.db` lacks; without either nothing is changed. From
 * then on the remaining data is required. Throws StateFileError if the folder is missing or a
 * gateway runs on it.
 */
export async function repairFolder(folder: string) {
  if (!existsSync(folder))
    throw new StateFileError(`the data folder ${folder} does not exist`);
  const lock = lockStoppedFolder(folder);
  try {
    const losses = lossesIn(folder);
    if (losses.files.length > 0 || losses.changes > 0)
      await requireRest(folder);
    return losses;
  } finally {
    lock.release();
  }
}

async function requireRest(folder: string): Promise<void> {
  forgetLastChange(folder);
  const db = openForRepair(folder);
  try {
    const missing = missingRowFile(folder, db);
    if (missing !== null) {
      // Without its log the file is whole, but lacks the last changes.
      if (missing === ROW_FILE) removeRowFile(folder);
      forgetRowFile(db);
      noteMissingUsage(folder, Date.now());
    }
    await noteLastChange(folder, lastChangeIn(db));
  } finally {
    db.close();
  }
}
