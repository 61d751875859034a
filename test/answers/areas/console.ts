/** The console, as a person with a browser meets it: signing up, signing in, and the doors. */
import { bear, keyOf } from '../agents.ts'
import { consoleDoors, NOBODY, preflights, refusedMethods } from '../doors.ts'
import {
  birthFields,
  browser,
  type Fields,
  form,
  PASSWORD,
  page,
  signIn,
  signingIn,
} from '../person.ts'
import { cookieOf, type Part, type Scene } from '../scene.ts'
import { guests } from './console-guests.ts'
import { operating } from './console-operating.ts'

const without = (...names: (keyof typeof birthFields)[]): Fields =>
  Object.fromEntries(Object.entries(birthFields).filter(([name]) => !names.some((n) => n === name)))

const signingUp: Part = async (visit) => {
  const path = '/console/birth'
  await visit.ask(...page('the form', path))
  await visit.askAll([
    form('nothing filled in', path, {}),
    form('no consent', path, without('operatorConsent')),
    form('no symbol', path, without('symbol')),
    form('fields that are too long', path, {
      ...birthFields,
      name: 'ї'.repeat(81),
      purpose: '<b>',
    }),
    form('no e-mail', path, { ...birthFields, email: '' }),
    form('a short password', path, { ...birthFields, password: 'short' }),
    form('a common password', path, { ...birthFields, password: 'password1234' }),
    ['a fault, for a program', `POST ${path}`, { form: {} }],
  ])
  const born = await visit.ask(...form('a birth', path, birthFields))
  await visit.askAll([
    form('the form sent again', path, birthFields),
    form('another form under its key', path, { ...birthFields, name: 'Other' }),
    form('a wrong password of the account', path, {
      ...birthFields,
      key: keyOf(2),
      password: 'wrong horse battery',
    }),
    form('a key that is none', path, { ...birthFields, key: 'x', name: 'Second' }),
    page('the form for who is signed in', path, cookieOf(born)),
    page('the session that the form began', '/console', cookieOf(born)),
  ])
}

const nexts = [
  undefined,
  '',
  '/console/account?a=1&b=%20',
  '//evil.example',
  'https://evil.example/console',
  '/console/../api',
  '/x',
  '/consolex',
]

const signingInAndOut: Part = async (visit) => {
  const path = '/console/sign-in'
  await bear(visit, { email: 'visitor@example.org', password: PASSWORD })
  await visit.askAll([
    page('the form', path),
    page('the form with a way back', `${path}?next=%2Fconsole%2Faccount`),
    page('the form with a way elsewhere', `${path}?next=https%3A%2F%2Fevil.example`),
    form('a wrong password', path, signingIn('visitor@example.org', 'wrong horse battery')),
    form('an unknown address', path, signingIn('nobody@example.org')),
    form('nothing filled in', path, {}),
    form('an address that is markup', path, signingIn('"><script>', 'x', '/console/attach')),
  ])
  for (const next of nexts) {
    await visit.ask(
      ...form(
        `on to ${next ?? 'the console'}`,
        path,
        signingIn('VISITOR@example.org', PASSWORD, next),
      ),
    )
  }
  const first = await signIn(visit, 'visitor@example.org')
  const again = await visit.ask(
    ...form('signing in again', path, signingIn('visitor@example.org'), { cookie: first }),
  )
  const second = cookieOf(again)
  await visit.askAll([
    page('the session from before has ended', '/console', first),
    page('the form for who is signed in', `${path}?next=%2Fconsole%2Fattach`, second),
    form('signing out', '/console/sign-out', {}, { cookie: second }),
    page('the session has ended', '/console', second),
    form('signing out again', '/console/sign-out', {}, { cookie: second }),
  ])
}

const methods: Part = async (visit) => {
  await visit.askAll(refusedMethods(consoleDoors(NOBODY)))
  await visit.askAll(preflights(consoleDoors(NOBODY).slice(0, 2)))
  for (const { path } of consoleDoors(NOBODY))
    await visit.ask('HEAD', `HEAD ${path}`, { headers: browser })
  await visit.ask('a method that is not for this page, in a browser', 'DELETE /console', {
    headers: browser,
  })
}

export const console: Scene = {
  env: {
    BIRTHS_PER_HOUR_PER_ADDRESS: '0',
    FAILURES_PER_MINUTE: '0',
    SIGN_IN_FAILURES_PER_HOUR: '0',
    EXPORTS_PER_MINUTE: '0',
    CONTROLS_PER_MINUTE: '100',
  },
  parts: {
    'signing up': signingUp,
    'signing in and out': signingInAndOut,
    'who may not': guests,
    methods,
    ...operating,
  },
}
