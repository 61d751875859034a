/**
 * Overwrites what `secure_delete` leaves. It overwrites deleted rows and freed pages; but when rows
 * move to another page, a copy can stay in the slack of the old one, which SQLite never reads and
 * cannot clear. So slack is cleared in the file itself, for each page that a checkpoint wrote,
 * before the log restarts. The file then has no remains except in pages that are still in the log,
 * and an erasure costs only what it wrote.
 *
 * A mark in the file's modification time records this: any other writer removes it, and a copy does
 * not have it. A file without the mark is cleaned once, in slices.
 *
 * Zeros in slack or free pages are invisible to SQLite, so concurrent readers, cached pages and
 * crashes do no harm. But nobody else may write to the file meanwhile: the caller prevents commits
 * and checkpoints.
 */
import { openLogFile } from './log-file.ts'
import { openPageFile } from './page-file.ts'
import { type Pass, startPass } from './pass.ts'
import { MOST_PAGES, wipeSlack } from './slack.ts'

/** `fd`: the database's descriptor, see `openPageFile`. */
export function openResidueCleaner(database: string, fd: number) {
  const file = openPageFile(fd)
  const log = openLogFile(database)
  let due = !file.isMarked()
  let known = file.changedAt()
  let pass: Pass | undefined

  const isKnown = (): boolean => file.changedAt() === known

  /** The last frame of a page in the log is its state in the file. */
  function wipeMoved(frames: number): boolean {
    const pages = file.pages()
    let wiped = false
    log.unseen(frames, file.pageSize(), (page) => {
      pass?.moved(page.number)
      if (page.number > pages || !wipeSlack(page)) return
      file.write(page)
      wiped = true
    })
    return wiped
  }

  function wipeSlice(): boolean {
    pass ??= startPass(file)
    const wiped = pass.slice()
    due = !pass.isOver()
    if (!due) pass = undefined
    return wiped
  }

  return {
    /**
     * Before a checkpoint: pages that others have checkpointed in the meantime were not cleaned.
     */
    watch(): void {
      if (isKnown()) return
      due = true
      pass = undefined
    },
    /** After a checkpoint. */
    note(): void {
      known = file.changedAt()
    },
    /**
     * Call while nobody can write and all frames are in the file. False if its pages cannot be
     * identified.
     */
    run(frames: number, throughAll: boolean): boolean {
      if (file.pages() >= MOST_PAGES || file.isAutoVacuumed()) return false
      const wiped = wipeMoved(frames)
      const found = due && throughAll && wipeSlice()
      if (wiped || found) file.sync()
      log.see(frames)
      if (!due) file.mark()
      known = file.changedAt()
      return true
    },
    /** Afterwards nothing is left except in pages that others have written since. */
    isClean: (): boolean => !due && isKnown(),
  }
}

export type ResidueCleaner = ReturnType<typeof openResidueCleaner>
