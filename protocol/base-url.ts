/** URLs that paths are appended to. */
import * as v from 'valibot';

/** Of http or https; what else a URL may have would be sent to the wrong place, or shown in logs. */
export const BaseUrlSchema = v.pipe(
  v.string(),
  v.check(
    (text) => /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s/?#@\\]+)*$/.test(text) && URL.canParse(text),
    'give an http or https URL without credentials, query, fragment or final slash, as https://host.example',
  ),
);
