"""HTTP interface: API, live feed and the built page. Read-only; loopback by default.

::

    app         the application: routes and what they share
    run         ``iosonde serve``: uvicorn on one address
    params      query parameters: types, limits, questions about targets
    pictures    query parameters of pictures
    shapes      the JSON of answers, for /openapi.json
    errors      the one form of every error
    security    who may ask (methods, host names) and what the browser may do (headers)
    answers     JSON, compressed once; files to keep
    targets     every target with its sentence
    series      points or density, windows, baseline and slowdown of one target
    history     windows kept between requests, so that only new rows are read again
    points      single operations, or exact counts on a grid where they are too many
    figures     a figure's numbers, or its picture
    jobs, umami, climate    the same of jobs; job_table: the table that they share
    arrivals    what became visible in the store, and when
    live        one reader of the store for all clients of the feed
    shared      equal questions are answered once
    lanes       threads and queues by kind of question: a heavy one keeps no other waiting
    access      tokens, TLS, deadlines and a count of connections, requests whose client or server ends
    privacy     whose names leave
    wire        arrays -> JSON
    page        the built files
    sealing     seals the store meanwhile

Numbers and sentences come from the rooms.
"""
