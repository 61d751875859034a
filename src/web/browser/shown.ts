/** What was shown once: a reload leads to where one goes on, and asks for nothing to be sent again. */
const on = document.querySelector<HTMLAnchorElement>('a[data-shown-once]')
if (on) history.replaceState(null, '', on.href)
