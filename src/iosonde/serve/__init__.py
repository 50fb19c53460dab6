"""The HTTP face: API, live feed and the built page. Read-only; loopback unless told otherwise.

::

    app       the application: routes, errors, headers
    run       ``iosonde serve``: uvicorn on one address
    params    query strings -> checked values
    security  who may ask (methods, host names) and what the browser may do (headers)
    targets   every target with its sentence
    series    points or density, windows, baseline and slowdown of one target
    history   windows kept between requests, so that only new rows are read again
    density   exact counts on a grid, for ranges with too many points
    live      one reader of the store for all clients of the feed
    shared    equal questions are answered once
    wire      arrays -> JSON
    page      the built files

Numbers come from ``store``, ``analysis`` and ``stats``; sentences from ``findings``.
"""
