/**
 * Preloaded into the program to break it on purpose: every connection that is about to write goes
 * from synchronous = FULL down to NORMAL, behind the back of the check at its opening.
 */
import { DatabaseSync } from 'node:sqlite'

const lowered = new WeakSet<DatabaseSync>()
const { prepare } = DatabaseSync.prototype

DatabaseSync.prototype.prepare = function (this: DatabaseSync, ...args) {
  if (/^\s*(INSERT|UPDATE)/.test(args[0]) && !lowered.has(this) && !this.isTransaction) {
    lowered.add(this)
    this.exec('PRAGMA synchronous = NORMAL')
  }
  return prepare.apply(this, args)
}
