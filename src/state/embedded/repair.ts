import { existsSync } from 'node:fs';
import { filesOf } from '../journal/read.ts';
import { openStateFile, StateFileError } from './file.ts';
import {
  COUNTER_FILES,
  forgetLastChange,
  lastChangeIn,
  missingCounterFiles,
  nameGenerations,
  noteLastChange,
  recordedLastChange,
} from './inventory.ts';
import { lockFolder } from './lock.ts';

/**
 * Lets gateways start with the remaining data of a folder. Returns the missing files, and the number of recent operator
 * changes that `state.db` lacks. Throws StateFileError if the folder is missing or a gateway runs on it.
 */
export async function repairFolder(folder: string) {
  if (!existsSync(folder)) throw new StateFileError(`the data folder ${folder} does not exist`);
  const lock = lockFolder(folder);
  try {
    const noted = recordedLastChange(folder);
    forgetLastChange(folder);
    const db = openStateFile(folder);
    try {
      const has = lastChangeIn(db);
      const files = missingCounterFiles(db, filesOf(folder, COUNTER_FILES));
      nameGenerations(db, []);
      await noteLastChange(folder, has);
      return { files, changes: Math.max(0, noted - has) };
    } finally {
      db.close();
    }
  } finally {
    lock.release();
  }
}
