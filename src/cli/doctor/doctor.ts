/** `agent-home doctor`: checks the installation and says what to do. */
import { type Config, ConfigError, loadConfig } from '../../config.ts'
import { examine } from '../../store/at-rest.ts'
import { StoreRefused } from '../../store/port/errors.ts'
import type { Finding } from '../../store/port/rest.ts'
import type { Report } from '../command.ts'
import { EXIT } from '../exit-codes.ts'
import { lookAround } from './reached.ts'

const runtime: Finding = { about: 'Node.js', state: 'good', says: process.version }

function settings(): Config | Finding {
  try {
    return loadConfig()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const advice = 'Correct the environment variables; README.md lists them.'
    return { about: 'configuration', state: 'wrong', says: error.message, advice }
  }
}

async function data({ DATABASE_URL, DISK_RESERVE }: Config): Promise<Finding[]> {
  try {
    const now = Date.now()
    return await examine({ databaseUrl: DATABASE_URL, diskReserve: DISK_RESERVE, now })
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const says =
      error instanceof StoreRefused ? error.message : `it cannot be read: ${error.message}`
    return [{ about: 'database', state: 'wrong', says }]
  }
}

async function findAll(): Promise<Finding[]> {
  const config = settings()
  if ('about' in config) return [runtime, config]
  const valid: Finding = { about: 'configuration', state: 'good', says: 'it is valid' }
  return [runtime, valid, ...(await data(config)), ...(await lookAround(config))]
}

const MARKS = { good: 'ok   ', odd: 'note ', wrong: 'WRONG' } as const

const lineOf = ({ about, state, says, advice }: Finding): string =>
  `${MARKS[state]}  ${about.padEnd(13)}  ${says}\n${advice ? `${' '.repeat(22)}${advice}\n` : ''}`

export async function doctorCommand(): Promise<Report> {
  const findings = await findAll()
  const wrong = findings.filter(({ state }) => state === 'wrong').length
  const end = wrong > 0 ? `${wrong} of ${findings.length} are wrong.\n` : 'Nothing is wrong.\n'
  return {
    value: { wrong, findings },
    text: findings.map(lineOf).join('') + end,
    exit: wrong > 0 ? EXIT.failed : EXIT.done,
  }
}
