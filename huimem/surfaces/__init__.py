"""The same verbs for people, agents and programs: words become calls, records become words."""
