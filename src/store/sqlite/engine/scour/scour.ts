/**
 * What `secure_delete` leaves. It overwrites rows and pages that are given up; but where rows move
 * to another page, a copy can stay in the slack of the one that they came from. SQLite never reads
 * slack, and offers nothing to empty it, so that is done beside it, in the file: of each page that
 * was moved there from the log, before the log starts anew. Thus the file never has any residue but
 * of pages that are still in the log, and an erasure costs what it wrote.
 *
 * A mark says so, in the file's time of change: whoever else writes into the file takes it away, and
 * a copy does not have it. A file without it is gone through once, slice by slice.
 *
 * Zeros in slack, or in free pages, change nothing that SQLite can see: it does not matter who reads
 * meanwhile, which slack a connection remembers (it comes back through the log), or where the process
 * ends. But nobody else may write into the file: who calls keeps commits and checkpoints away.
 */
import { openLogFile } from './log-file.ts'
import { openPageFile } from './page-file.ts'
import { type Pass, startPass } from './pass.ts'
import { MOST_PAGES, wipeSlack } from './slack.ts'

/** `fd`: the database's file, see `openPageFile`. */
export function openScour(database: string, fd: number) {
  const file = openPageFile(fd)
  const log = openLogFile(database)
  let due = !file.isMarked()
  let known = file.changedAt()
  let pass: Pass | undefined

  const isKnown = (): boolean => file.changedAt() === known

  /** What a page was last in the log is what it is in the file. */
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
    /** Before what is in the log is moved: what others moved meanwhile, nobody looked at. */
    watch(): void {
      if (isKnown()) return
      due = true
      pass = undefined
    },
    /** After it. */
    note(): void {
      known = file.changedAt()
    },
    /**
     * While nobody can write, and all of the log, so many frames, is in the file. False where its
     * pages do not tell what they are.
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
    /** Nothing is left but in what others wrote since, or what is in the log. */
    isClean: (): boolean => !due && isKnown(),
  }
}

export type Scour = ReturnType<typeof openScour>
