/** The program, but for its patience: readers that take nothing are dropped after two seconds. */
import { randomBytes } from 'node:crypto'
import { serve } from '../../src/serve.ts'

const patience = { stallTimeout: 2_000 }
const { announce } = await serve({ clock: Date.now, random: randomBytes, patience })
announce()
